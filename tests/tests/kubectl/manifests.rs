//! Manifests as people write them, for every family of kinds: kubectl applies them, finds nothing to change
//! afterwards, and shows them.

use std::path::{Path, PathBuf};

use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
};

/// The files of `tests/manifests`, how many objects each has, and a change: a text in the file, and what
/// stands there instead.
const FAMILIES: &[(&str, usize, [&str; 2])] = &[
    ("workload", 5, ["minReadySeconds: 5", "minReadySeconds: 6"]),
    ("rbac", 5, ["resourceNames: [public-key]", "resourceNames: [private-key]"]),
    ("csi", 5, ["allowVolumeExpansion: true", "allowVolumeExpansion: false"]),
    ("volumes", 6, ["labels: {tier: fast}", "labels: {tier: slow}"]),
    ("flowcontrol", 5, ["lendablePercent: 50", "lendablePercent: 51"]),
    ("config", 6, ["LOG_LEVEL: info", "LOG_LEVEL: debug"]),
    ("services", 5, ["timeoutSeconds: 600", "timeoutSeconds: 900"]),
    ("policy", 7, ["leaseTransitions: 4", "leaseTransitions: 5"]),
];

fn manifest(family: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests").join(format!("{family}.yaml"))
}

/// The kinds of a manifest, in the tables that they are shown in: a new one begins with each other kind.
fn kinds(text: &str) -> Vec<&str> {
    let mut kinds: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("kind: ")).collect();
    kinds.dedup();
    kinds
}

#[tokio::test]
async fn manifests_are_applied_found_unchanged_and_shown() {
    if !is_installed("applying manifests with kubectl") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let kubectl = Kubectl { server: &server };
    for (family, count, change) in FAMILIES {
        let path = manifest(family);
        let file = path.to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("\nkind: ").count(), *count, "{family}");

        every_line(&kubectl, &format!("apply -f {file}"), *count, "created").await;
        every_line(&kubectl, &format!("apply -f {file}"), *count, "unchanged").await;
        kubectl.prints(&format!("diff -f {file}"), "").await;
        shown(&kubectl, file, &text).await;
        changes(&kubectl, family, &text, *change).await;
    }
    services(&kubectl).await;
    for (family, ..) in FAMILIES.iter().rev() {
        // What is in a namespace goes with it, and may have done so already.
        let delete =
            format!("delete --now --wait=false --ignore-not-found -f {}", manifest(family).display());
        assert!(kubectl.run(&delete).await.contains(" deleted"), "{family}");
    }
}

/// Where services are reached, as people look it up.
async fn services(kubectl: &Kubectl<'_>) {
    let table = kubectl.run("get services -o wide").await;
    let heading = table.lines().next().unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(heading, ["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE", "SELECTOR"]);
    for (name, expected) in [
        ("shop", &["ClusterIP", "10.0.0.", "<none>", "80/TCP,9100/TCP,6831/UDP", "app=shop"][..]),
        ("shop-pods", &["ClusterIP", "None", "<none>", "80/TCP"]),
        ("shop-nodes", &["NodePort", "10.0.0.", "80:30080/TCP"]),
        ("shop-balanced", &["LoadBalancer", "10.0.0.", "198.51.100.7", "443:3"]),
        ("payments", &["ExternalName", "<none>", "payments.example.com"]),
    ] {
        let line = table.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        assert!(expected.iter().all(|part| line.contains(part)), "{expected:?}: {line}");
    }
    let described = kubectl.run("describe service shop-nodes").await;
    for part in ["NodePort", "30080/TCP", "Session Affinity", "ClientIP", "External Traffic Policy", "Local"]
    {
        assert!(described.contains(part), "{part}: {described}");
    }
}

/// A field that patches replace stands in every patch of kubectl, and with it a budget always counts as
/// configured. That is the selector.
const BUDGET: &str = "poddisruptionbudget.policy/";

/// Runs a command that says one word of each object.
async fn every_line(kubectl: &Kubectl<'_>, line: &str, count: usize, word: &str) {
    let text = kubectl.run(line).await;
    let expected =
        |line: &str| if word == "unchanged" && line.starts_with(BUDGET) { "configured" } else { word };
    let all_say_it = text.lines().all(|line| line.ends_with(expected(line)));
    assert!(all_say_it && text.lines().count() == count, "kubectl {line}\n{text}");
}

/// Tables, narrow and wide, descriptions, and the documentation of every field.
async fn shown(kubectl: &Kubectl<'_>, file: &str, text: &str) {
    let kinds = kinds(text);
    for line in [format!("get -f {file}"), format!("get -o wide -f {file}")] {
        let tables = kubectl.run(&line).await;
        let headings =
            tables.lines().filter(|line| line.starts_with("NAME ") || line.starts_with("LAST SEEN "));
        assert_eq!(headings.count(), kinds.len(), "kubectl {line}\n{tables}");
    }
    let described = kubectl.run(&format!("describe -f {file}")).await;
    assert!(described.contains("Name:"), "{described}");
    for kind in kinds {
        let explained = kubectl.run(&format!("explain {} --recursive", kind.to_lowercase())).await;
        assert!(explained.contains(&format!("KIND:       {kind}")), "{explained}");
    }
}

/// A changed file differs in one place, is applied, and the object has the change.
async fn changes(kubectl: &Kubectl<'_>, family: &str, text: &str, [old, new]: [&str; 2]) {
    let changed = text.replacen(old, new, 1);
    assert_ne!(changed, text, "{family} has no {old:?}");
    let file = format!("{family}-changed.yaml");
    std::fs::write(kubectl.server.scratch_dir().join(&file), changed).unwrap();
    let (is_same, difference) = kubectl.output(&format!("diff -f {file}")).await;
    assert!(!is_same, "{family}: no difference");
    let lines = |sign: char| {
        let body = difference.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++"));
        body.filter(|line| line.starts_with(sign)).count()
    };
    assert!(lines('-') >= 1 && lines('+') >= 1, "{difference}");
    let applied = kubectl.run(&format!("apply -f {file}")).await;
    let configured =
        applied.lines().filter(|line| line.ends_with(" configured") && !line.starts_with(BUDGET));
    assert_eq!(configured.count(), 1, "{applied}");
    kubectl.prints(&format!("diff -f {file}"), "").await;
}
