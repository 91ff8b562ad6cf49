//! What the server says of a bakery, and what it shall say.

use orch_tests::{Answer, client::Client};
use serde_json::Value;

use crate::objects::BAKERIES;

/// Changes of the bakery, the causes for which it is refused then, and the warnings.
pub type Row = (Value, Vec<&'static str>, Vec<&'static str>);

/// A bakery with these changes is accepted.
pub fn accepted(changes: Value) -> Row {
    (changes, Vec::new(), Vec::new())
}

/// It is refused, for this cause alone.
pub fn refused(changes: Value, cause: &'static str) -> Row {
    (changes, vec![cause], Vec::new())
}

/// It is accepted, and the client is warned.
pub fn warned(changes: Value, warning: &'static str) -> Row {
    (changes, Vec::new(), vec![warning])
}

/// What an answer says otherwise than the row; nothing, where it says the same. `is_judged`: the causes come
/// from expressions.
pub fn difference((changes, causes, warnings): &Row, is_judged: bool, answer: &Answer) -> Option<String> {
    let causes = if is_judged { causes.iter().map(ToString::to_string).collect() } else { all(causes) };
    let expected = (causes, warnings.iter().map(ToString::to_string).collect());
    let found = told(answer);
    (found != expected).then(|| format!("{changes}\n  found  {found:?}\n  wanted {expected:?}"))
}

/// The causes for which an answer refuses an object, each as `<reason> <field>: <message>`, and its warnings.
pub fn told(answer: &Answer) -> (Vec<String>, Vec<String>) {
    let status = answer.json();
    let causes = status["details"]["causes"].as_array().cloned().unwrap_or_default();
    let cause = |cause: &Value| {
        let [reason, field, message] = ["reason", "field", "message"].map(|key| cause[key].as_str().unwrap());
        format!("{} {field}: {message}", reason.strip_prefix("FieldValue").unwrap())
    };
    let warnings = answer.headers.get_all("warning").iter();
    let warnings = warnings.map(|warning| {
        let text = warning.to_str().unwrap();
        text.strip_prefix("299 - \"").and_then(|text| text.strip_suffix('"')).unwrap().to_owned()
    });
    (causes.iter().map(cause).collect(), warnings.collect())
}

/// What the server says of a new bakery, without keeping it.
pub async fn tried(client: &Client, object: &Value) -> Answer {
    let answer = client.post(&format!("{BAKERIES}?dryRun=All"), object).await;
    assert!(matches!(answer.status, 201 | 422), "{answer:?}");
    answer
}

/// What is told at the end where bounds do not hold on which expressions rely.
const UNJUDGED: &str = "Invalid <nil>: Invalid value: \"null\": some validation rules were not checked because \
                        the object was invalid; correct the existing errors to complete validation";

/// Of these causes the server also says that expressions were not looked at.
const WITHOUT_BOUNDS: [&str; 4] = ["Required ", "NotSupported ", "TooLong ", "TooMany "];

/// Everything that is told of an object with these causes, of which none comes from an expression.
pub fn all(causes: &[&str]) -> Vec<String> {
    let lacks_bounds = |cause: &&str| WITHOUT_BOUNDS.iter().any(|reason| cause.starts_with(reason));
    let more = causes.iter().any(lacks_bounds).then_some(UNJUDGED);
    causes.iter().copied().chain(more).map(str::to_owned).collect()
}
