//! Rules about the change of a bakery.

use orch_runtime::{
    field_error::Validation,
    object::{ApiObject, Kind},
};
use orch_tests::client::Client;
use serde_json::{Value, json};

use crate::{
    example::v1::Bakery,
    objects::{BAKERIES, bakery, server, with},
    told::{Row, accepted, difference, refused, warned},
};

/// Tries to change the stored bakery, and keeps nothing.
async fn look(client: &Client, rows: Vec<Row>) {
    let path = format!("{BAKERIES}/corner");
    let version = client.get(&path).await.expect(200)["metadata"]["resourceVersion"].clone();
    let mut differences = Vec::new();
    for row in rows {
        let mut object = with(&row.0);
        object["metadata"]["resourceVersion"] = version.clone();
        let answer = client.put(&format!("{path}?dryRun=All"), &object).await;
        assert!(matches!(answer.status, 200 | 422), "{answer:?}");
        differences.extend(difference(&row, false, &answer));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn changes_are_refused_as_the_schema_says() {
    let server = server().start().await;
    let client = server.admin();
    client.post(BAKERIES, &bakery()).await.expect(201);
    look(&client, of_parts()).await;
    look(&client, of_the_whole()).await;
    // What has come once stays.
    let signed = json!({"spec": {"lease": {"until": "2030-01-01T00:00:00Z", "pets": true}}});
    client.merge(&format!("{BAKERIES}/corner"), &signed).await.expect(200);
    let kept = json!({"lease/until": "2030-01-01T00:00:00Z", "lease/pets": true});
    let later = json!({"lease/until": "2031-01-01T00:00:00Z", "lease/pets": true});
    let without_pets = json!({"lease/until": "2030-01-01T00:00:00Z", "lease/pets": false});
    let cause = "Forbidden spec.lease: Forbidden: it is signed";
    look(&client, vec![accepted(kept), refused(later, cause), refused(without_pets, cause)]).await;
}

fn of_parts() -> Vec<Row> {
    vec![
        accepted(json!({})),
        refused(
            json!({"founded": "2002-04-02T00:00:00Z"}),
            "Invalid spec.founded: Invalid value: 2002-04-02 00:00:00 +0000 UTC: field is immutable",
        ),
        refused(
            json!({"owner": "Bo"}),
            r#"Invalid spec.owner: Invalid value: "Bo": field is immutable once set"#,
        ),
        refused(
            json!({"ovens/2/fuel": "Electric"}),
            r#"Invalid spec.ovens[2].fuel: Invalid value: "Electric": field is immutable"#,
        ),
        refused(
            json!({"ovens/0/trays": 7}),
            r#"Invalid spec.ovens[0].trays: Invalid value: "integer": must not become fewer"#,
        ),
        refused(
            json!({"hours/0/opens": 8}),
            r#"Invalid spec.hours[0].opens: Invalid value: "object": must not open later"#,
        ),
        refused(
            json!({"front/corner/street": "Side Street"}),
            r#"Invalid spec.front.corner.street: Invalid value: "Side Street": houses do not move"#,
        ),
        refused(
            json!({"front/sign": "Bun"}),
            r#"Invalid spec.front.sign: Invalid value: "Bun": a listed house keeps its sign"#,
        ),
        refused(json!({"lease/landlord": "Cy"}), "Forbidden spec.lease: Forbidden: it is signed"),
        accepted(json!({"lease/cents": 95000, "lease/until": "2030-01-01T00:00:00Z", "lease/pets": true})),
    ]
}

fn of_the_whole() -> Vec<Row> {
    let ovens = &bakery()["spec"]["ovens"];
    vec![
        // Told once, although two are gone.
        refused(
            json!({"ovens": [ovens[0], ovens[1]]}),
            r#"Forbidden spec.ovens: Forbidden: ovens are built in, also "gas""#,
        ),
        // Rules after this one are not judged.
        refused(
            json!({"bakers": 15, "ovens": [ovens[0], ovens[1]]}),
            "Invalid spec.bakers: Invalid value: 15: at most 14 can be there tomorrow",
        ),
        warned(json!({"bakers": 5, "hours": null, "delivery": null}), "spec.hours: say when they work"),
        // Of the metadata, only the rule that asks for it is told on an update.
        refused(
            json!({"/metadata/annotations/orch.io~1closed": "maybe"}),
            r#"NotSupported metadata.annotations[orch.io/closed]: Unsupported value: "maybe": supported values: "yes", "no""#,
        ),
    ]
}

/// No client can write such a bakery any more. An older program, whose schema had no such rule, could.
#[test]
fn a_wrong_value_that_is_there_already_is_accepted() {
    let longer = "Bread as it was in old times";
    let refused = "spec.front.slogan: Too long: may not be more than 20 bytes";
    let slogan = |text: &str, motto: &str| typed(&with(&json!({"front/slogan": text, "front/motto": motto})));
    let old = slogan(longer, "a");
    assert_eq!(errors(&*old, None), [refused], "a new one is refused");
    assert_eq!(errors(&*slogan(longer, "a"), Some(&*old)), [""; 0]);
    assert_eq!(errors(&*slogan(longer, "b"), Some(&*old)), [""; 0], "something else has changed");
    assert_eq!(errors(&*slogan("Bread as it will be soon", "a"), Some(&*old)), [refused]);
}

/// Logs of the program do not show what is secret.
#[test]
fn a_secret_is_not_printed() {
    let bakery = typed(&with(&json!({"till/key": "open sesame"})));
    let bakery = bakery.as_any().downcast_ref::<Bakery>().unwrap();
    let shown = format!("{bakery:?}");
    assert!(shown.contains("Ada") && !shown.contains("sesame"), "{shown}");
}

fn typed(tree: &Value) -> Box<dyn ApiObject> {
    let mut object = (Bakery::RESOURCE.from_tree)(tree.clone()).unwrap();
    object.set_defaults();
    object
}

fn errors(new: &dyn ApiObject, old: Option<&dyn ApiObject>) -> Vec<String> {
    let mut cx = Validation::new(&orch_api::ORCH);
    new.validate(&mut cx);
    new.validate_expressions(old, &mut cx);
    cx.into_errors().iter().map(ToString::to_string).collect()
}
