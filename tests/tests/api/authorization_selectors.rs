//! Selectors of requests, as a webhook and its conditions see them where the feature gate is on.

use std::fs;

use http::Method;
use orch_tests::{TestServer, objects::CONFIG_MAPS};
use serde_json::{Value, json};

use crate::remote::{Reply, Site};

/// Allows everything.
fn allow(review: &str) -> Reply {
    let mut review: Value = serde_json::from_str(review).unwrap();
    review["status"] = json!({"allowed": true});
    Reply::Answer(200, review.to_string())
}

/// A server whose webhook is asked about everything that is not done with a selector for the label `skipped`.
async fn start(site: &Site, folder: &std::path::Path, gate: bool) -> TestServer {
    let kubeconfig = site.kubeconfig(folder, "/authorize", "");
    let condition = "!(has(request.resourceAttributes) && has(request.resourceAttributes.labelSelector) && \
                     request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'skipped'))";
    let text = format!(
        "apiVersion: apiserver.config.orch.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n\
         - type: Webhook\n  name: hook\n  webhook:\n    timeout: 10s\n    authorizedTTL: 1ms\n    \
         subjectAccessReviewVersion: v1\n    matchConditionSubjectAccessReviewVersion: v1\n    \
         failurePolicy: Deny\n    \
         connectionInfo: {{type: KubeConfigFile, kubeConfigFile: '{}'}}\n    \
         matchConditions: [{{expression: \"{condition}\"}}]\n",
        kubeconfig.display()
    );
    let file = folder.join("authorizers.yaml");
    fs::write(&file, text).unwrap();
    TestServer::options()
        .flag(format!("--authorization-config={}", file.display()))
        .flag(format!("--feature-gates=AuthorizeWithSelectors={gate}"))
        .start()
        .await
}

/// A method, a query, and the parts of the question about selectors where the gate is on.
type Row<'a> = (Method, &'a str, &'a str, Value);

fn rows() -> Vec<Row<'static>> {
    let fields = json!({"requirements": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]});
    let unlike = json!({"requirements": [{"key": "metadata.name", "operator": "NotIn", "values": ["a"]}]});
    let labels = json!({"requirements": [
        {"key": "a", "operator": "In", "values": ["x"]},
        {"key": "b", "operator": "NotIn", "values": ["y", "z"]},
        {"key": "c", "operator": "DoesNotExist"},
        {"key": "d", "operator": "Exists"},
    ]});
    vec![
        (Method::GET, "", "list", json!({})),
        (Method::GET, "?fieldSelector=metadata.name%3Da", "list", json!({"fieldSelector": fields})),
        (Method::GET, "?fieldSelector=metadata.name!%3Da", "list", json!({"fieldSelector": unlike})),
        (
            Method::GET,
            "?labelSelector=a%3Dx,b%20notin%20(y,z),!c,d",
            "list",
            json!({"labelSelector": labels}),
        ),
        (
            Method::GET,
            "?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Da",
            "watch",
            json!({"fieldSelector": fields}),
        ),
        (
            Method::DELETE,
            "?fieldSelector=metadata.name%3Da&labelSelector=d",
            "deletecollection",
            json!({
                "fieldSelector": fields,
                "labelSelector": {"requirements": [{"key": "d", "operator": "Exists"}]},
            }),
        ),
        // What cannot be read requires nothing, and is refused after that.
        (Method::GET, "?fieldSelector=nonsense", "list", json!({})),
        (Method::GET, "?labelSelector=a%20in%20(", "list", json!({})),
        (Method::DELETE, "?labelSelector=a%20in%20(", "deletecollection", json!({})),
        // A read of one object has no selectors.
        (Method::GET, "/a?fieldSelector=metadata.name%3Da&labelSelector=d", "get", json!({})),
    ]
}

#[tokio::test]
async fn a_webhook_sees_selectors_where_the_gate_is_on() {
    for gate in [false, true] {
        let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
        let webhook = site.start(|seen| allow(&seen.body)).await;
        let server = start(&site, folder.path(), gate).await;
        let bob = server.user("bob");
        for (method, query, verb, expected) in rows() {
            let row = format!("{gate} {method} {query}");
            let answer = bob.request(method, &format!("{CONFIG_MAPS}{query}")).send().await;
            assert!(matches!(answer.status, 200 | 400 | 404), "{row}: {}", answer.text());
            let is_of_bob = |review: &Value| review["spec"]["user"] == "bob";
            let mut reviews =
                webhook.seen().into_iter().map(|seen| serde_json::from_str(&seen.body).unwrap());
            let review: Value = reviews.rfind(is_of_bob).unwrap();
            let attributes = &review["spec"]["resourceAttributes"];
            assert_eq!(attributes["verb"], verb, "{row}");
            for selector in ["fieldSelector", "labelSelector"] {
                let expected = if gate { &expected[selector] } else { &Value::Null };
                assert_eq!(&attributes[selector], expected, "{row}: {selector}");
            }
        }
    }
}

#[tokio::test]
async fn a_condition_sees_selectors_where_the_gate_is_on() {
    for gate in [false, true] {
        let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
        let _webhook = site.start(|seen| allow(&seen.body)).await;
        let server = start(&site, folder.path(), gate).await;
        let bob = server.user("bob");
        bob.get(CONFIG_MAPS).await.expect(200);
        bob.get(&format!("{CONFIG_MAPS}?labelSelector=other")).await.expect(200);
        // The webhook is not asked, and nobody else is there.
        let skipped = bob.get(&format!("{CONFIG_MAPS}?labelSelector=skipped")).await;
        assert_eq!(skipped.status, if gate { 403 } else { 200 }, "{gate}");
    }
}
