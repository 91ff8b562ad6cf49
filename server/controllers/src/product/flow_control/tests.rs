//! The objects of the seed over a store in memory, with the controllers that keep them.

use std::time::Duration;

use orch_machinery::meta::Meta;
use orch_runtime::{Tree, object::typed_from_tree};
use serde_json::{Value, json};

use super::{
    seed::{annotation, wanted},
    *,
};
use crate::{controller::AnyController, fixture::Fixture};

fn both() -> Vec<Box<dyn AnyController>> {
    vec![Box::new(FlowSchemas::default()), Box::new(PriorityLevels)]
}

fn object<T: Kind>(fixture: &Fixture, name: &str) -> Tree {
    fixture.client.get(fixture.resource::<T>(), "", name).unwrap().tree
}

fn shares(fixture: &Fixture, name: &str) -> Value {
    object::<PriorityLevelConfiguration>(fixture, name)["spec"]["limited"]["nominalConcurrencyShares"].clone()
}

fn set_shares(shares: i32, annotation: Option<(&str, &str)>) -> impl Fn(&mut Tree) {
    move |level| {
        level["spec"]["limited"]["nominalConcurrencyShares"] = shares.into();
        if let Some((key, value)) = annotation {
            level["metadata"]["annotations"] = json!({key: value});
        }
    }
}

#[test]
fn the_seed_has_what_the_rules_of_the_kinds_rely_on_and_no_foreign_words() {
    for vocabulary in orch_api::VOCABULARIES {
        let levels = wanted(vocabulary, PriorityLevelConfiguration::RESOURCE).unwrap();
        let schemas = wanted(vocabulary, FlowSchema::RESOURCE).unwrap();
        assert_eq!((levels.len(), schemas.len()), (8, 13));
        for wanted in levels.iter().chain(&schemas) {
            let is_foreign = vocabulary.name != "orch" && format!("{wanted:?}").contains("orch");
            assert!(!is_foreign, "{}: {wanted:?}", vocabulary.name);
        }
        for wanted in levels {
            let level: PriorityLevelConfiguration = typed_from_tree(json!({"spec": wanted.spec})).unwrap();
            let fixed = PriorityLevelConfiguration::mandatory_spec(&wanted.name);
            assert_eq!(fixed, wanted.is_mandatory.then_some(level.spec), "{}", wanted.name);
        }
        for wanted in schemas {
            let schema: FlowSchema = typed_from_tree(json!({"spec": wanted.spec})).unwrap();
            let fixed = FlowSchema::mandatory_spec(&wanted.name);
            assert_eq!(fixed, wanted.is_mandatory.then_some(schema.spec), "{}", wanted.name);
        }
    }
}

#[tokio::test]
async fn what_differs_from_the_seed_is_corrected_unless_an_operator_says_otherwise() {
    let fixture = Fixture::new().await;
    let client = &fixture.client;
    ensure_all(client).await.unwrap();
    let before = client.core().storage().current_revision();
    ensure_all(client).await.unwrap();
    assert_eq!(client.core().storage().current_revision(), before, "everything is as it should be");

    let annotation = annotation(client.core().vocabulary());
    for (name, marked) in [("system", None), ("node-high", Some("false")), ("workload-low", Some("hm"))] {
        let marked = marked.map(|value| (&*annotation, value));
        fixture.change::<PriorityLevelConfiguration>(("", name), "", set_shares(7, marked)).await;
    }
    let exempt = |level: &mut Tree| level["spec"]["exempt"]["lendablePercent"] = 9.into();
    fixture.change::<PriorityLevelConfiguration>(("", "exempt"), "", exempt).await;
    let forget = |object: &mut Tree| object["metadata"]["annotations"] = json!({});
    fixture.change::<FlowSchema>(("", "catch-all"), "", forget).await;
    fixture.change::<FlowSchema>(("", "probes"), "", forget).await;
    fixture.delete::<FlowSchema>(("", "exempt")).await;
    fixture.delete::<FlowSchema>(("", "service-accounts")).await;
    let own = |name: &str, annotations: Value| {
        json!({
            "metadata": {"name": name, "annotations": annotations},
            "spec": {"priorityLevelConfiguration": {"name": "own"}},
        })
    };
    fixture.create::<FlowSchema>(own("obsolete", json!({&*annotation: "true"}))).await;
    fixture.create::<FlowSchema>(own("own", json!({}))).await;
    assert_eq!(dangling(&fixture, "probes").unwrap().0, "False");

    ensure_all(client).await.unwrap();
    assert_eq!(["system", "node-high", "workload-low"].map(|name| shares(&fixture, name)), [30, 7, 7]);
    let marked = |object: Tree| Meta::of(&object).annotation(&annotation).map(str::to_owned);
    let levels = ["system", "node-high", "workload-low"];
    let marks = levels.map(|name| marked(object::<PriorityLevelConfiguration>(&fixture, name)).unwrap());
    assert_eq!(marks, ["true", "false", "false"], "a spec that somebody has changed stays");
    let exempt = object::<PriorityLevelConfiguration>(&fixture, "exempt");
    assert_eq!(exempt["spec"]["exempt"]["lendablePercent"], 9);
    for name in ["catch-all", "probes", "exempt", "service-accounts"] {
        assert_eq!(marked(object::<FlowSchema>(&fixture, name)).as_deref(), Some("true"), "{name}");
    }
    assert!(fixture.exists::<FlowSchema>(("", "own")) && !fixture.exists::<FlowSchema>(("", "obsolete")));
}

/// An operator mends them with the server that starts.
#[tokio::test]
async fn levels_and_schemas_that_cannot_be_read_keep_no_others_from_being_made() {
    let fixture = Fixture::new().await;
    let levels = fixture.resource::<PriorityLevelConfiguration>();
    let schemas = fixture.resource::<FlowSchema>();
    let damaged = [(levels, "system"), (levels, "catch-all"), (schemas, "probes"), (schemas, "exempt")];
    for (resource, name) in damaged {
        let key = orch_storage::Key::new(resource.storage_name.clone(), "", name);
        let body = orch_storage::Body::new("{".into(), 1);
        let storage = fixture.client.core().storage();
        storage.commit(orch_storage::Change::Create { key, body }).await.unwrap();
    }
    ensure_all(&fixture.client).await.unwrap();
    for (resource, name) in damaged {
        assert!(fixture.client.get(resource, "", name).is_err(), "{name} stays as it is");
    }
    assert_eq!([fixture.client.snapshot(levels).len(), fixture.client.snapshot(schemas).len()], [8, 13]);
    assert_eq!(shares(&fixture, "node-high"), 40);
    assert_eq!(dangling(&fixture, "system-nodes").unwrap().0, "False", "its level is there");
}

#[tokio::test(start_paused = true)]
async fn objects_of_the_seed_come_back_at_once() {
    let fixture = Fixture::new().await;
    ensure_all(&fixture.client).await.unwrap();
    let (running, _) = fixture.start(both());
    fixture.settle().await;
    fixture.delete::<FlowSchema>(("", "catch-all")).await;
    fixture.delete::<PriorityLevelConfiguration>(("", "catch-all")).await;
    fixture.change::<PriorityLevelConfiguration>(("", "system"), "", set_shares(7, None)).await;
    let took = fixture
        .until("they are back", || {
            fixture.exists::<FlowSchema>(("", "catch-all"))
                && fixture.exists::<PriorityLevelConfiguration>(("", "catch-all"))
                && shares(&fixture, "system") == 30
        })
        .await;
    assert!(took < Duration::from_secs(1), "{took:?}");
    fixture.finish(running).await;
}

fn dangling(fixture: &Fixture, name: &str) -> Option<(String, String, String)> {
    let schema = object::<FlowSchema>(fixture, name);
    let conditions = schema["status"]["conditions"].as_array()?;
    let dangling = conditions.iter().find(|condition| condition["type"] == "Dangling")?;
    let text = |field: &str| dangling[field].as_str().unwrap_or_default().to_owned();
    assert!(!text("lastTransitionTime").is_empty());
    Some((text("status"), text("reason"), text("message")))
}

#[tokio::test(start_paused = true)]
async fn a_flow_schema_tells_whether_its_level_exists() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(both());
    for name in ["a", "b"] {
        let spec = json!({"priorityLevelConfiguration": {"name": "l"}});
        fixture.create::<FlowSchema>(json!({"metadata": {"name": name}, "spec": spec})).await;
    }
    let is = |status: &'static str, reason: &'static str, rest: &'static str| {
        let message =
            format!(r#"This FlowSchema references the PriorityLevelConfiguration object named "l" {rest}"#);
        let expected = Some((status.to_owned(), reason.to_owned(), message));
        let fixture = &fixture;
        move || ["a", "b"].iter().all(|name| dangling(fixture, name) == expected)
    };
    fixture.until("it is missing", is("True", "NotFound", "but there is no such object")).await;
    let spec = json!({"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}});
    fixture.create::<PriorityLevelConfiguration>(json!({"metadata": {"name": "l"}, "spec": spec})).await;
    fixture.until("it is there", is("False", "Found", "and it exists")).await;
    let own = |schema: &mut Tree| schema["status"]["conditions"] = json!([]);
    fixture.change::<FlowSchema>(("", "a"), "status", own).await;
    fixture.until("it is told again", is("False", "Found", "and it exists")).await;
    fixture.delete::<PriorityLevelConfiguration>(("", "l")).await;
    fixture.until("it is gone", is("True", "NotFound", "but there is no such object")).await;
    fixture.finish(running).await;
}
