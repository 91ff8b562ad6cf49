//! Plugins that give tokens, and token files: how often they are asked, and what is told when they fail.

use std::{fs, time::Duration};

use futures_util::future::join_all;
use orch_client::Settings;
use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
};
use serde_json::{Value, json};

use crate::{
    name,
    plugin::{Plugin, write_kubeconfig},
    start, whoami,
};

const BOB: &str = r#"status '{"token": "tok-bob"}'"#;

#[tokio::test]
async fn a_hundred_requests_make_one_run_of_a_slow_plugin() {
    for (vocabulary, version) in [("orch", "v1"), ("kubernetes", "v1beta1")] {
        let server = start(vocabulary).await;
        let plugin = Plugin::new(&server, version, &format!("sleep 0.3\n{BOB}"));
        let client = plugin.client(&server);
        assert_eq!(plugin.runs(), 0, "nothing runs before the first request");
        let names = join_all((0..100).map(|_| name(&client, &server))).await;
        assert!(names.iter().all(|name| name.as_ref().unwrap() == "bob"), "{names:?}");
        // Another client of the process that is configured alike has the same credential.
        assert_eq!(name(&plugin.client(&server), &server).await.unwrap(), "bob");
        assert_eq!(plugin.runs(), 1, "{vocabulary}");
    }
}

#[tokio::test]
async fn a_refused_request_is_tried_once_more_with_a_fresh_credential() {
    let server = start("orch").await;
    let plugin = Plugin::new(
        &server,
        "v1",
        r#"if [ "$RUN" = 1 ]; then status '{"token": "old"}'; else status '{"token": "tok-bob"}'; fi"#,
    );
    let client = plugin.client(&server);
    let names = join_all((0..100).map(|_| name(&client, &server))).await;
    assert!(names.iter().all(|name| name.as_ref().unwrap() == "bob"), "{names:?}");
    assert_eq!(plugin.runs(), 2);

    // Once, not more often.
    let never = Plugin::new(&server, "v1", r#"status '{"token": "never"}'"#);
    let refused = name(&never.client(&server), &server).await.unwrap_err();
    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 401), "{refused:?}");
    assert_eq!(never.runs(), 2);
}

#[tokio::test]
async fn a_credential_is_used_until_it_expires() {
    let server = start("orch").await;
    let script = |seconds: i64| {
        format!(
            r#"status "{{\"token\": \"tok-bob\", \"expirationTimestamp\":
            \"$(date -u -d '{seconds} seconds' +%Y-%m-%dT%H:%M:%SZ)\"}}""#
        )
    };
    let (lasting, short, expired) = (
        Plugin::new(&server, "v1", &script(3600)),
        Plugin::new(&server, "v1", &script(2)),
        Plugin::new(&server, "v1", &script(-3600)),
    );
    let clients = [&lasting, &short, &expired].map(|plugin| plugin.client(&server));
    let all = async || {
        for client in &clients {
            assert_eq!(name(client, &server).await.unwrap(), "bob");
        }
    };
    all().await;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    all().await;
    assert_eq!([&lasting, &short, &expired].map(Plugin::runs), [1, 2, 2]);
}

#[tokio::test]
async fn what_is_wrong_with_a_plugin_is_told_without_its_secrets() {
    let server = start("orch").await;
    for (script, expected) in [
        ("echo hunter2; echo hunter2 >&2; exit 7", "it failed (exit status: 7)"),
        ("echo hunter2", "it printed no ExecCredential"),
        ("status '{}'", "neither status.token nor"),
        (r#"status '{"token": "hunter2", "clientKeyData": "hunter2"}'"#, "both status.token and"),
        (r#"status '{"clientKeyData": "hunter2"}'"#, "only one of"),
        (r#"status '{"token": "hunter2", "expirationTimestamp": "hunter2"}'"#, "is no RFC 3339 time"),
    ] {
        let plugin = Plugin::new(&server, "v1", script);
        let client = plugin.client(&server);
        let errors = join_all((0..10).map(|_| name(&client, &server))).await;
        for error in errors {
            let error = error.unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("hunter2"), "{script}: {error}");
            assert!(error.contains(&format!("{:?}", plugin.path("./plugin"))), "{error}");
        }
        assert_eq!(plugin.runs(), 1, "those who waited are told the same");
        // A failure is not kept.
        name(&client, &server).await.unwrap_err();
        assert_eq!(plugin.runs(), 2);
    }
}

#[tokio::test]
async fn a_plugin_that_asks_is_told_about_the_server() {
    for (vocabulary, variable) in [("orch", "ORCH_EXEC_INFO"), ("kubernetes", "KUBERNETES_EXEC_INFO")] {
        let server = start(vocabulary).await;
        let plugin = Plugin::new(&server, "v1", &format!("printf %s \"${variable}\" > $DIR/info\n{BOB}"));
        let path = plugin.kubeconfig(&server, &json!({"provideClusterInfo": true}));
        let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let extension = format!("client.authentication.{}/exec", crate::suffix(&server));
        file["clusters"][0]["cluster"]["extensions"] = json!([
            {"name": "other", "extension": 1},
            {"name": extension, "extension": {"audience": "a"}},
        ]);
        fs::write(&path, file.to_string()).unwrap();
        let client = Settings::new().file(&path).client().unwrap();
        assert_eq!(name(&client, &server).await.unwrap(), "bob");
        let info: Value = serde_json::from_slice(&fs::read(plugin.path("info")).unwrap()).unwrap();
        let cluster = &file["clusters"][0]["cluster"];
        let expected = json!({
            "interactive": false,
            "cluster": {
                "server": cluster["server"],
                "certificate-authority-data": cluster["certificate-authority-data"],
                "config": {"audience": "a"},
            },
        });
        assert_eq!(info["spec"], expected);
    }
}

#[tokio::test]
async fn kubectl_with_the_same_plugin_is_the_same_user() {
    let server = start("kubernetes").await;
    let plugin = Plugin::new(&server, "v1", r#"status '{"token": "tok-carol"}'"#);
    let path = plugin.kubeconfig(&server, &json!({}));
    let ours = whoami(&plugin.client(&server), &server).await.unwrap();
    assert_eq!(ours["groups"], json!(["ops", "devs", "system:authenticated"]));
    if !is_installed("the same plugin with kubectl") {
        return;
    }
    let line = format!("--kubeconfig={} auth whoami -o json", path.display());
    let theirs = Kubectl { server: &server }.run(&line).await;
    let theirs: Value = serde_json::from_str(&theirs).unwrap();
    assert_eq!(theirs["status"]["userInfo"], ours);
}

#[tokio::test]
async fn a_token_file_is_read_again() {
    let server: TestServer = start("orch").await;
    let directory = tempfile::tempdir().unwrap();
    let (config, token) = (directory.path().join("config"), directory.path().join("token"));
    // The file counts more than what stands beside it.
    write_kubeconfig(&config, &server, &json!({}), &json!({"tokenFile": "token", "token": "tok-dave"}));
    fs::write(&token, "tok-bob\n").unwrap();
    let client = Settings::new().file(&config).client().unwrap();
    assert_eq!(name(&client, &server).await.unwrap(), "bob");
    fs::write(&token, "tok-carol\n").unwrap();
    let changed = async {
        while name(&client, &server).await.unwrap() != "carol" {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), changed).await.expect("it is read again");
    // A token that is refused is looked up at once.
    fs::write(&token, "wrong").unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    fs::write(&token, "tok-bob").unwrap();
    let client = Settings::new().file(&config).client().unwrap();
    assert_eq!(name(&client, &server).await.unwrap(), "bob");
}

#[tokio::test]
async fn what_is_written_down_counts_before_a_plugin() {
    let server = start("orch").await;
    let plugin = Plugin::new(&server, "v1", BOB);
    let path = plugin.kubeconfig(&server, &json!({}));
    let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    file["users"][0]["user"]["token"] = json!("tok-dave");
    fs::write(&path, file.to_string()).unwrap();
    assert_eq!(name(&Settings::new().file(&path).client().unwrap(), &server).await.unwrap(), "dave");
    assert_eq!(plugin.runs(), 0);
}
