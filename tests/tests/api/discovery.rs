//! Discovery in both forms, and the coverage that follows from it: every listed resource answers, and only to
//! those who may.

use http::Method;
use orch_tests::{Answer, Client, TestServer};
use serde_json::{Value, json};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

#[tokio::test]
async fn both_forms_name_the_same_resources() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut legacy = legacy_resources(&admin).await;
    let mut aggregated = Vec::new();
    for root in ["/api", "/apis"] {
        let answer = admin.request(Method::GET, root).header("accept", AGGREGATED).send().await;
        assert!(
            answer.header("content-type").contains("as=APIGroupDiscoveryList"),
            "{}",
            answer.header("content-type")
        );
        for group in answer.expect(200)["items"].as_array().unwrap() {
            let name = group["metadata"]["name"].as_str().unwrap_or_default();
            for version in group["versions"].as_array().unwrap() {
                for resource in version["resources"].as_array().unwrap() {
                    aggregated.push(format!(
                        "{name}/{}/{}",
                        text(&version["version"]),
                        text(&resource["resource"])
                    ));
                }
            }
        }
    }
    legacy.retain(|resource| !resource.subresource());
    let mut legacy: Vec<String> = legacy.into_iter().map(|found| found.qualified()).collect();
    legacy.sort();
    aggregated.sort();
    assert_eq!(legacy, aggregated);
    assert!(legacy.contains(&"/v1/configmaps".to_owned()), "{legacy:?}");
    assert!(legacy.contains(&"coordination.orch.io/v1/leases".to_owned()), "{legacy:?}");
}

#[tokio::test]
async fn the_aggregated_form_is_fetched_once() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for group in ["apidiscovery.k8s.io", "apidiscovery.orch.io"] {
        let accept = format!("application/json;g={group};v=v2;as=APIGroupDiscoveryList");
        let first = admin.request(Method::GET, "/apis").header("accept", &accept).send().await;
        assert_eq!(first.expect(200)["apiVersion"], format!("{group}/v2"));
        let tag = first.header("etag");
        assert!(!tag.is_empty());
        let again = admin
            .request(Method::GET, "/apis")
            .header("accept", &accept)
            .header("if-none-match", tag)
            .send()
            .await;
        assert_eq!(again.status, 304);
        assert!(again.body.is_empty());
    }
}

/// For every resource and verb that discovery lists: a caller with a wrong credential is unauthorized, a user
/// without permission is forbidden, and the administrator gets an answer of that verb.
#[tokio::test]
async fn every_listed_verb_is_served_and_guarded() {
    let server = TestServer::options().flag("--authorization-mode=AlwaysDeny").start().await;
    let (admin, bob, unknown) = (server.admin(), server.user("bob"), server.user("mallory"));
    let resources = legacy_resources(&admin).await;
    let mut covered = 0;
    for resource in resources.iter().filter(|resource| !resource.subresource()) {
        for verb in &resource.verbs {
            let what = format!("{verb} {}", resource.qualified());
            assert_eq!(call(&unknown, resource, verb).await.status, 401, "{what}");
            let denied = call(&bob, resource, verb).await;
            let message = denied.refused(403, "Forbidden");
            assert!(message.contains(&format!("User \"bob\" cannot {verb} resource")), "{what}: {message}");
            let answer = call(&admin, resource, verb).await;
            let expected: &[u16] = match verb.as_str() {
                // Of an object that does not exist, and bodies that do not fit.
                "get" | "delete" => &[404],
                // A kind that can only be created is a review; an empty one may be answered.
                "create" if resource.verbs.len() == 1 => &[201, 400, 422],
                "update" | "patch" | "create" => &[400, 404, 422],
                "list" | "deletecollection" | "watch" => &[200],
                other => panic!("an unknown verb: {other}"),
            };
            assert!(expected.contains(&answer.status), "{what}: {answer:?}");
            covered += 1;
        }
    }
    assert!(covered > 5 * 7, "{covered}");
}

/// A resource or a sub-resource that the server lists.
#[derive(Debug)]
pub struct Resource {
    pub group: String,
    pub version: String,
    /// `pods`, `pods/status`.
    pub name: String,
    pub namespaced: bool,
    pub verbs: Vec<String>,
}

impl Resource {
    pub fn subresource(&self) -> bool {
        self.name.contains('/')
    }

    pub fn qualified(&self) -> String {
        format!("{}/{}/{}", self.group, self.version, self.name)
    }

    /// The path of its objects; of a sub-resource, of the resource above it.
    pub fn collection(&self) -> String {
        let root = if self.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", self.group) };
        let namespace = if self.namespaced { "/namespaces/default" } else { "" };
        let (resource, _) = self.name.split_once('/').unwrap_or((&self.name, ""));
        format!("{root}/{}{namespace}/{resource}", self.version)
    }

    /// The path of one object, or of its sub-resource.
    pub fn item(&self, name: &str) -> String {
        let item = format!("{}/{name}", self.collection());
        self.name.split_once('/').map_or(item.clone(), |(_, subresource)| format!("{item}/{subresource}"))
    }
}

/// Everything that the server lists.
pub async fn legacy_resources(client: &Client) -> Vec<Resource> {
    let mut group_versions = vec![(String::new(), "v1".to_owned())];
    for group in client.get("/apis").await.expect(200)["groups"].as_array().unwrap() {
        for version in group["versions"].as_array().unwrap() {
            group_versions.push((text(&group["name"]), text(&version["version"])));
        }
    }
    let mut found = Vec::new();
    for (group, version) in group_versions {
        let path =
            if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        for resource in client.get(&path).await.expect(200)["resources"].as_array().unwrap() {
            found.push(Resource {
                group: group.clone(),
                version: version.clone(),
                name: text(&resource["name"]),
                namespaced: resource["namespaced"] == true,
                verbs: resource["verbs"].as_array().unwrap().iter().map(text).collect(),
            });
        }
    }
    found
}

async fn call(client: &Client, resource: &Resource, verb: &str) -> Answer {
    let collection = resource.collection();
    let item = format!("{collection}/does-not-exist");
    match verb {
        "list" => client.get(&collection).await,
        "watch" => client.get(&format!("{collection}?watch=1&timeoutSeconds=1&resourceVersion=0")).await,
        "get" => client.get(&item).await,
        "delete" => client.delete(&item).await,
        "deletecollection" => {
            // The selector matches nothing: covering the verb takes no deletion.
            client.delete(&format!("{collection}?labelSelector=never%3Dset")).await
        }
        "create" => client.post(&collection, &json!({})).await,
        "update" => client.put(&item, &json!({})).await,
        "patch" => client.merge(&item, &json!({})).await,
        other => panic!("an unknown verb: {other}"),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// As resources are: by the parameter of the path, by that of the media type, or for programs that show the
/// text to people.
#[tokio::test]
async fn discovery_is_indented_for_people() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let plural = format!("{AGGREGATED};pretty=1");
    for path in ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"] {
        for (query, agent, accept, is_pretty) in [
            ("", "", "", false),
            ("?pretty=true", "", "", true),
            ("", "curl/8.0", "", true),
            ("?pretty=false", "curl/8.0", "", false),
            ("", "", "application/json;pretty=1", true),
            ("", "Mozilla/5.0 (X11)", "application/json", true),
            ("?pretty=true", "", AGGREGATED, true),
            ("", "", AGGREGATED, false),
            ("", "", &*plural, true),
        ] {
            let request = admin.request(Method::GET, &format!("{path}{query}"));
            let answer = request.header("user-agent", agent).header("accept", accept).send().await;
            if answer.status == 406 {
                // Only the roots have the newer form.
                assert!(accept.contains("as=") && path.matches('/').count() > 1, "{path} {accept}");
                continue;
            }
            let document = answer.expect(200);
            let text = answer.text();
            let is_indented = text.starts_with("{\n  \"kind\": \"");
            assert_eq!(is_indented, is_pretty, "{path}{query} {agent} {accept}: {text}");
            assert!(document["kind"].is_string());
        }
    }
    let get = async |query: &str| {
        admin.request(Method::GET, &format!("/apis{query}")).header("accept", AGGREGATED).send().await
    };
    let (plain, pretty) = (get("").await, get("?pretty=1").await);
    assert_eq!(plain.header("etag"), pretty.header("etag"), "they say the same");
    assert!(plain.body.len() < pretty.body.len());
}
