//! Plugins that give certificates, and files with one: they are those of the connection, and a new one
//! replaces them.

use std::{fs, pin::pin, time::Duration};

use futures_util::TryStreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, PostParams, WatchEvent, WatchParams},
    runtime::{WatchStreamExt, watcher},
};
use orch_client::Settings;
use orch_tests::{TestServer, authority::Authority};
use serde_json::json;

use crate::{
    name,
    plugin::{Plugin, write_kubeconfig},
};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// The lifetime of the credentials, by the plugin's word: the certificates themselves last longer.
const LIFETIME: Duration = Duration::from_secs(2);

/// A server, and a plugin that gives a certificate of another user with each run: `user-1`, `user-2` ...
async fn start() -> (TestServer, Plugin) {
    let authority = Authority::new("clients");
    let directory = tempfile::tempdir().unwrap();
    let server = TestServer::options()
        .flag(format!("--client-ca-file={}", authority.write(directory.path(), "ca.crt").display()))
        .flag("--authorization-mode=AlwaysAllow")
        .start()
        .await;
    let plugin = Plugin::new(
        &server,
        "v1",
        &format!(
            r#"expires=$(date -u -d '{} seconds' +%Y-%m-%dT%H:%M:%SZ)
            status "$(sed "s/TIME/$expires/" "$DIR/status-$RUN")""#,
            LIFETIME.as_secs()
        ),
    );
    for run in 1..=9 {
        let (certificate, key) = authority.pair(&format!("user-{run}"), None, Duration::from_hours(1));
        let status = json!({
            "clientCertificateData": certificate, "clientKeyData": key, "expirationTimestamp": "TIME",
        });
        fs::write(plugin.path(&format!("status-{run}")), status.to_string()).unwrap();
    }
    (server, plugin)
}

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

/// Waits until the plugin has run again for a request.
async fn rotate(client: &Client, server: &TestServer) {
    let before = name(client, server).await.unwrap();
    let changed = async {
        while name(client, server).await.unwrap() == before {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, changed).await.expect("the certificate is replaced");
}

#[tokio::test]
async fn certificates_are_those_of_the_connection_until_they_are_replaced() {
    let (server, plugin) = start().await;
    let client = plugin.client(&server);
    for run in 1..=3 {
        tokio::time::sleep(if run == 1 { Duration::ZERO } else { LIFETIME }).await;
        assert_eq!(name(&client, &server).await.unwrap(), format!("user-{run}"));
    }
    assert_eq!(plugin.runs(), 3);
}

#[tokio::test]
async fn a_watch_of_an_old_certificate_ends_and_a_watcher_goes_on() {
    let (server, plugin) = start().await;
    let client = plugin.client(&server);
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let from = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut raw = pin!(api.watch(&WatchParams::default(), &from).await.unwrap());
    let mut watcher = pin!(watcher(api.clone(), watcher::Config::default()).applied_objects());
    let mut expected = Vec::new();
    let mut seen = Vec::new();
    for round in 0..3 {
        if round > 0 {
            rotate(&client, &server).await;
        }
        for step in 0..3 {
            let name = format!("m-{round}-{step}");
            api.create(&PostParams::default(), &config_map(&name)).await.unwrap();
            expected.push(name);
        }
        while seen.len() < expected.len() {
            let next = tokio::time::timeout(PATIENCE, watcher.try_next()).await.expect("the watcher goes on");
            seen.push(next.expect("its watch ends as watches do").expect("a watcher has no end").name_any());
        }
    }
    assert_eq!(seen, expected, "each object once, in order");
    // The watch that began with the first certificate ends long before the server would end it. It saw what
    // came while that was the newest one.
    let mut begun = Vec::new();
    while let Some(event) = tokio::time::timeout(PATIENCE, raw.try_next()).await.expect("it ends").unwrap() {
        let WatchEvent::Added(object) = event else { panic!("{event:?}") };
        begun.push(object.name_any());
    }
    assert!(expected[..3].starts_with(&begun), "{begun:?}");
}

/// A certificate with the key of another one is told, and not kept: the plugin may do better the next time.
#[tokio::test]
async fn a_pair_that_does_not_fit_is_not_kept() {
    let authority = Authority::new("clients");
    let directory = tempfile::tempdir().unwrap();
    let server = TestServer::options()
        .flag(format!("--client-ca-file={}", authority.write(directory.path(), "ca.crt").display()))
        .flag("--authorization-mode=AlwaysAllow")
        .start()
        .await;
    let plugin = Plugin::new(&server, "v1", r#"status "$(cat "$DIR/status-$RUN")""#);
    let (certificate, key) = authority.pair("user-1", None, Duration::from_hours(1));
    let (_, other_key) = authority.pair("user-2", None, Duration::from_hours(1));
    for (run, key) in [(1, &other_key), (2, &other_key), (3, &key)] {
        let status = json!({"clientCertificateData": certificate, "clientKeyData": key});
        fs::write(plugin.path(&format!("status-{run}")), status.to_string()).unwrap();
    }
    let client = plugin.client(&server);
    for run in [1, 2] {
        let error = name(&client, &server).await.unwrap_err().to_string();
        assert!(error.contains("cannot be used together"), "{error}");
        assert!(!error.contains("PRIVATE KEY"), "{error}");
        assert_eq!(plugin.runs(), run);
    }
    for _ in 0..3 {
        assert_eq!(name(&client, &server).await.unwrap(), "user-1");
    }
    assert_eq!(plugin.runs(), 3);
}

/// Without a plugin: whoever owns the files replaces them, one after the other.
#[tokio::test]
async fn files_of_a_certificate_are_read_again_once_it_is_refused() {
    const SHORT: Duration = Duration::from_secs(4);
    let authority = Authority::new("clients");
    let directory = tempfile::tempdir().unwrap();
    let server = TestServer::options()
        .flag(format!("--client-ca-file={}", authority.write(directory.path(), "ca.crt").display()))
        .flag("--authorization-mode=AlwaysAllow")
        .start()
        .await;
    let files = ["client.crt", "client.key"].map(|name| directory.path().join(name));
    let user = json!({"client-certificate": files[0], "client-key": files[1]});
    let path = directory.path().join("config");
    write_kubeconfig(&path, &server, &json!({}), &user);

    let (certificate, key) = authority.pair("user-1", None, SHORT);
    fs::write(&files[0], certificate).unwrap();
    fs::write(&files[1], key).unwrap();
    let client = Settings::new().file(&path).client().unwrap();
    assert_eq!(name(&client, &server).await.unwrap(), "user-1");

    let (certificate, key) = authority.pair("user-2", None, Duration::from_hours(1));
    fs::write(&files[0], certificate).unwrap();
    tokio::time::sleep(SHORT + Duration::from_secs(1)).await;
    // The key does not go with the certificate yet, so the connection stays as it is.
    let refused = name(&client, &server).await.unwrap_err();
    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 401), "{refused:?}");
    fs::write(&files[1], key).unwrap();
    assert_eq!(name(&client, &server).await.unwrap(), "user-2");
}
