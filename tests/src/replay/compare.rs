//! What differs between a recorded answer and the one at hand.

use serde_json::Value;

use super::{
    Got, Step,
    names::{Names, Unsaved},
    scrub::{Ignored, scrub, sorted},
    short,
};

/// All differences, `[]` where the answer matches. `managed_fields` says whether records of field ownership
/// count.
pub fn differences(step: &Step, got: &Got, names: &Names, managed_fields: bool) -> Vec<String> {
    compare(step, got, names, managed_fields)
        .unwrap_or_else(|Unsaved(name)| vec![format!("an earlier step did not save {name}")])
}

fn compare(step: &Step, got: &Got, names: &Names, managed_fields: bool) -> Result<Vec<String>, Unsaved> {
    let mut found = Vec::new();
    let want = &step.expect;
    if want.status != got.status {
        found.push(format!("status: {}, expected {}", got.status, want.status));
    }
    for (name, want) in &want.headers {
        let want = names.fill_value(want)?;
        let have = got.headers.get(name);
        let same = match have {
            Some(have) if name == "content-type" => plain_type(have) == plain_type(&want),
            have => have == Some(&want),
        };
        if !same && !step.ignore.iter().any(|pointer| pointer.strip_prefix("/headers/") == Some(name)) {
            found.push(format!(
                "header {name}: {}, expected {}",
                have.map_or("none".into(), short),
                short(&want)
            ));
        }
    }
    if let Some(warnings) = got.headers.get("warning").filter(|_| !want.headers.contains_key("warning")) {
        found.push(format!("header warning: unexpected {}", short(warnings)));
    }
    let text = |text: &Option<String>| text.clone().map(Value::String);
    let events = |events: &Option<Vec<Value>>| events.clone().map(Value::Array);
    let parts = [
        ("body", want.body.clone(), got.body.clone()),
        ("text", text(&want.text), text(&got.text)),
        ("events", events(&want.events), events(&got.events)),
    ];
    let mut ignored = Ignored::new(&step.ignore);
    ignored.managed_fields = !managed_fields;
    for (part, want, have) in parts {
        let Some(want) = want else { continue };
        let Some(have) = have else {
            found.push(format!("no {part} in the answer: {}", got.shown()));
            continue;
        };
        let (mut want, mut have) = (scrub(&names.fill_value(&want)?, &ignored), scrub(&have, &ignored));
        if step.unordered {
            (want, have) = (sorted(&want), sorted(&have));
        }
        differ(&want, &have, "", step.subset, &mut found);
    }
    Ok(found)
}

/// A media type without spaces, case and character set.
fn plain_type(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default().replace(' ', "").to_lowercase();
    text.split(";charset").next().unwrap_or_default().to_owned()
}

fn differ(want: &Value, have: &Value, path: &str, subset: bool, found: &mut Vec<String>) {
    match (want, have) {
        (Value::Object(want), Value::Object(have)) => {
            for (key, want) in want {
                let path = format!("{path}/{key}");
                match have.get(key) {
                    None => found.push(format!("{path}: missing, expected {}", short(want))),
                    Some(have) => differ(want, have, &path, subset, found),
                }
            }
            for (key, have) in have.iter().filter(|(key, _)| !subset && !want.contains_key(*key)) {
                found.push(format!("{path}/{key}: unexpected {}", short(have)));
            }
        }
        (Value::Array(want), Value::Array(have)) => {
            if want.len() != have.len() && !(subset && have.len() > want.len()) {
                found.push(format!("{path}: {} items, expected {}", have.len(), want.len()));
            }
            for (index, (want, have)) in want.iter().zip(have).enumerate() {
                differ(want, have, &format!("{path}/{index}"), subset, found);
            }
        }
        (Value::Number(w), Value::Number(h)) if w.as_f64() == h.as_f64() => {}
        _ if want == have => {}
        _ => {
            let path = if path.is_empty() { "/" } else { path };
            found.push(format!("{path}: {}, expected {}", short(have), short(want)));
        }
    }
}
