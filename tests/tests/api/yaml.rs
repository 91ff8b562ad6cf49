//! Answers in YAML: the same as in JSON, for all answers but watches.

use http::Method;
use orch_machinery::yaml::encode;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::{CONFIG_MAPS, config_map},
};
use serde_json::json;

const YAML: &str = "application/yaml";

async fn get(client: &Client, path: &str, accept: &str) -> Answer {
    client.request(Method::GET, path).header("accept", accept).send().await
}

#[tokio::test]
async fn what_is_read_in_json_is_read_in_yaml() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for name in ["a", "b", "c"] {
        let mut object = config_map(name, "1");
        object["data"] = json!({"no": "yes", "lines": "one\ntwo\n", "1": "0755", "long": "word ".repeat(40)});
        admin.post(CONFIG_MAPS, &object).await.expect(201);
    }
    let table = "as=Table;v=v1;g=meta.orch.io";
    let metadata = "as=PartialObjectMetadataList;v=v1;g=meta.orch.io";
    let item = format!("{CONFIG_MAPS}/a");
    let newest = admin.get(CONFIG_MAPS).await.expect(200)["metadata"]["resourceVersion"].clone();
    let page = format!("{CONFIG_MAPS}?limit=2&resourceVersion={}", newest.as_str().unwrap());
    let none = format!("{CONFIG_MAPS}?labelSelector=none&resourceVersion={}", newest.as_str().unwrap());
    for (path, form) in [
        (item.as_str(), ""),
        (&item, table),
        (&item, "as=PartialObjectMetadata;v=v1;g=meta.orch.io"),
        (CONFIG_MAPS, ""),
        (CONFIG_MAPS, metadata),
        (CONFIG_MAPS, table),
        (&none, ""),
        (&none, metadata),
        (&none, table),
        ("/api/v1", ""),
        ("/apis", ""),
        (&format!("{CONFIG_MAPS}/absent"), ""),
        (&format!("{CONFIG_MAPS}?limit=x"), ""),
        ("/api/v1/nothings", ""),
    ] {
        let [in_json, in_yaml] = [
            get(&admin, path, &format!("application/json;{form}")).await,
            get(&admin, path, &format!("{YAML};{form}")).await,
        ];
        assert_eq!(in_yaml.header("content-type"), YAML, "{path} {form}");
        assert_eq!(in_yaml.status, in_json.status, "{path} {form}");
        assert_eq!(in_yaml.text(), encode(&in_json.json()), "{path} {form}");
    }
    // Continue tokens differ; items do not.
    let in_yaml = get(&admin, &page, YAML).await.text();
    assert!(in_yaml.starts_with("apiVersion: v1\nitems:\n- data:\n    \"1\": \"0755\"\n"), "{in_yaml}");
    assert!(in_yaml.contains("\nkind: ConfigMapList\nmetadata:\n  continue: "), "{in_yaml}");
    assert_eq!(in_yaml.matches("\n- data:\n").count(), 2, "{in_yaml}");
}

#[tokio::test]
async fn writes_answer_in_yaml_too() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let send = |method: Method, path: &str| admin.request(method, path).header("accept", YAML);

    let created = send(Method::POST, CONFIG_MAPS).json(&config_map("a", "1")).send().await;
    assert_eq!((created.status, created.header("content-type")), (201, YAML));
    assert_eq!(created.text(), encode(&admin.get(&item).await.expect(200)));
    let taken = send(Method::POST, CONFIG_MAPS).json(&config_map("a", "1")).send().await;
    assert_eq!(taken.status, 409);
    assert!(taken.text().contains("message: configmaps \"a\" already exists\n"), "{taken:?}");
    let stranger = server.user("stranger").request(Method::GET, &item).header("accept", YAML).send().await;
    assert_eq!(stranger.status, 401);
    assert!(stranger.text().starts_with("apiVersion: v1\ncode: 401\nkind: Status\n"), "{stranger:?}");
    let gone = send(Method::DELETE, &item).send().await;
    assert_eq!(gone.status, 200);
    assert!(gone.text().ends_with("kind: Status\nmetadata: {}\nstatus: Success\n"), "{gone:?}");
}

#[tokio::test]
async fn a_client_gets_what_it_accepts_most() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for (accept, path, status, expected) in [
        ("application/yaml;q=0.5,application/json", item.as_str(), 200, "application/json"),
        ("application/json;q=0.5,application/yaml", &item, 200, YAML),
        ("text/html,application/yaml;q=0.1", &item, 200, YAML),
        ("*/*", &item, 200, "application/json"),
        ("application/*", &item, 406, "application/json"),
        ("application/yaml;as=Picture;v=v1;g=meta.orch.io", &item, 406, "application/json"),
        // A failure has one form, so this client accepts none in YAML.
        ("application/yaml;as=Table;v=v1;g=meta.orch.io", &format!("{item}x"), 404, "application/json"),
        ("application/yaml", &format!("{item}x"), 404, YAML),
        // A watch cannot be written as one YAML document.
        ("application/yaml", &format!("{CONFIG_MAPS}?watch=1"), 406, YAML),
    ] {
        let answer = get(&admin, path, accept).await;
        assert_eq!((answer.status, answer.header("content-type")), (status, expected), "{accept} {path}");
    }
    let refused = get(&admin, &item, "text/html").await.refused(406, "NotAcceptable");
    assert_eq!(
        refused,
        "406: Not Acceptable\n\n\
         Available representations: application/json, application/yaml, application/vnd.orch.protobuf"
    );
}

#[tokio::test]
async fn a_person_at_a_terminal_can_read_failures() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let absent = format!("{CONFIG_MAPS}/absent");
    let asked = |agent: &str, query: &str| {
        let path = format!("{absent}{query}");
        admin.request(Method::GET, &path).header("user-agent", agent)
    };
    for (agent, query, is_indented) in [
        ("curl/8.0", "", true),
        ("curl/8.0", "?pretty=0", false),
        ("kubectl/v1.32", "", false),
        ("kubectl/v1.32", "?pretty=true", true),
    ] {
        let answer = asked(agent, query).send().await;
        assert_eq!(answer.status, 404);
        assert_eq!(
            answer.text().starts_with("{\n  \"kind\": \"Status\",\n"),
            is_indented,
            "{agent}{query}: {answer:?}"
        );
    }
}
