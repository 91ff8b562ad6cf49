//! Who decides, by a file: a webhook and roles, and what happens when the file changes while the server runs.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use orch_tests::{TestServer, objects::CONFIG_MAPS};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Starts a webhook that allows what users called `bob` do, and has no opinion on others.
async fn webhook() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    address
}

async fn answer(mut stream: TcpStream) {
    let mut read = String::new();
    loop {
        let mut piece = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut piece).await else { return };
        read.push_str(std::str::from_utf8(&piece[..count]).unwrap());
        let Some((_, body)) = read.split_once("\r\n\r\n") else { continue };
        let Ok(mut review) = serde_json::from_str::<Value>(body) else { continue };
        read.clear();
        review["status"] =
            json!({"allowed": review["spec"]["user"] == "bob", "reason": "the webhook says so"});
        let body = review.to_string();
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A file that asks the webhook under a condition, and then roles.
fn write_file(folder: &Path, webhook: SocketAddr, condition: &str) -> PathBuf {
    let kubeconfig = folder.join("webhook.kubeconfig");
    let text = format!(
        "contexts: [{{name: c, context: {{cluster: k}}}}]\n\
         clusters: [{{name: k, cluster: {{server: 'http://{webhook}/authorize'}}}}]\n"
    );
    fs::write(&kubeconfig, text).unwrap();
    let file = folder.join("authorizers.yaml");
    let text = format!(
        "apiVersion: apiserver.config.orch.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n\
         - type: Webhook\n  name: hook\n  webhook:\n    timeout: 3s\n    unauthorizedTTL: 1ms\n    \
         subjectAccessReviewVersion: v1\n    matchConditionSubjectAccessReviewVersion: v1\n    \
         failurePolicy: NoOpinion\n    connectionInfo:\n      type: KubeConfigFile\n      \
         kubeConfigFile: {}\n    matchConditions:\n    - expression: {condition}\n\
         - type: RBAC\n  name: roles\n",
        kubeconfig.display()
    );
    replace(&file, &text);
    file
}

/// A file appears whole.
fn replace(file: &Path, text: &str) {
    fs::write(file.with_extension("new"), text).unwrap();
    fs::rename(file.with_extension("new"), file).unwrap();
}

#[tokio::test]
async fn a_file_says_who_decides_and_is_followed() {
    let (folder, webhook) = (tempfile::tempdir().unwrap(), webhook().await);
    let file = write_file(folder.path(), webhook, "has(request.resourceAttributes)");
    let server =
        TestServer::options().flag(format!("--authorization-config={}", file.display())).start().await;
    let (bob, carol) = (server.user("bob"), server.user("carol"));
    bob.get(CONFIG_MAPS).await.expect(200);
    let message = carol.get(CONFIG_MAPS).await.refused(403, "Forbidden");
    assert!(message.contains("the webhook says so"), "{message}");
    // The condition keeps the webhook from being asked about paths; roles let everyone read this one.
    carol.get("/version").await.expect(200);
    bob.get("/metrics").await.refused(403, "Forbidden");

    let wrong = write_file(folder.path(), webhook, "request.user");
    assert_eq!(wrong, file);
    metric(&server, "failure", 1).await;
    bob.get(CONFIG_MAPS).await.expect(200);
    server.logged("has the type string, and not bool").await;

    write_file(folder.path(), webhook, "request.user == 'eve'");
    metric(&server, "success", 1).await;
    bob.get(CONFIG_MAPS).await.refused(403, "Forbidden");
    server.admin().get(CONFIG_MAPS).await.expect(200);
}

#[tokio::test]
async fn a_file_is_tried_again_while_it_names_what_is_wrong() {
    let (folder, webhook) = (tempfile::tempdir().unwrap(), webhook().await);
    let file = write_file(folder.path(), webhook, "has(request.resourceAttributes)");
    let server =
        TestServer::options().flag(format!("--authorization-config={}", file.display())).start().await;
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace("has(request.resourceAttributes)", "request.user == 'eve'");
    replace(&file, &text.replace("webhook.kubeconfig", "later.kubeconfig"));
    metric(&server, "failure", 2).await;
    server.user("bob").get(CONFIG_MAPS).await.expect(200);
    assert_eq!(server.log().matches("the authorizers stay as they were read before").count(), 1);

    fs::copy(folder.path().join("webhook.kubeconfig"), folder.path().join("later.kubeconfig")).unwrap();
    metric(&server, "success", 1).await;
    server.user("bob").get(CONFIG_MAPS).await.refused(403, "Forbidden");
}

/// Waits until reading the file again is counted so often: at once, by the clock of people.
async fn metric(server: &TestServer, status: &str, count: u32) {
    let name = "apiserver_authorization_config_controller_automatic_reloads_total";
    let line = format!("{name}{{status=\"{status}\"}} {count}\n");
    let start = Instant::now();
    loop {
        let metrics = server.admin().get("/metrics").await.text();
        if metrics.contains(&line) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{line} is not in {metrics}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
