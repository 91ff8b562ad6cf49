//! Clients that `orch-client` makes from kubeconfig files, against real servers in both vocabularies, with
//! credential plugins that are shell scripts.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

mod certificates;
mod connections;
mod documentation;
mod plugin;
mod tokens;

use kube::Client;
use orch_tests::TestServer;
use serde_json::{Value, json};

/// The group suffix of a server's vocabulary.
fn suffix(server: &TestServer) -> &'static str {
    let vocabulary = orch_api::VOCABULARIES.iter().find(|vocabulary| vocabulary.name == server.vocabulary());
    vocabulary.unwrap().group_suffix
}

/// Who the server says the client is.
async fn whoami(client: &Client, server: &TestServer) -> Result<Value, kube::Error> {
    let group = format!("authentication.{}", suffix(server));
    let review = json!({"apiVersion": format!("{group}/v1"), "kind": "SelfSubjectReview"});
    let request = http::Request::post(format!("/apis/{group}/v1/selfsubjectreviews"))
        .header("content-type", "application/json")
        .body(review.to_string().into_bytes())
        .unwrap();
    let review: Value = client.request(request).await?;
    Ok(review["status"]["userInfo"].clone())
}

/// The name of it.
async fn name(client: &Client, server: &TestServer) -> Result<String, kube::Error> {
    Ok(whoami(client, server).await?["username"].as_str().unwrap().to_owned())
}

/// The start of a server that says nothing of anonymous callers: who has no credential is refused.
async fn start(vocabulary: &'static str) -> TestServer {
    TestServer::options().vocabulary(vocabulary).flag("--authorization-mode=AlwaysAllow").start().await
}
