//! Helm, from its Go module: the life of a release of a chart with five kinds.

use std::path::Path;

use orch_machinery::{json::Limits, yaml};
use orch_tests::{
    TestServer,
    client::Client,
    manifests::{Judged, documents, judge},
};
use serde_json::Value;

use crate::{file, installed, program, run};

const IN_DEFAULT: &str = "/api/v1/namespaces/default";
const DAEMON_SET: &str = "/apis/apps/v1/namespaces/default/daemonsets/shop";

#[tokio::test]
async fn a_release_lives_with_helm_3() {
    lives("helm3", "").await;
}

#[tokio::test]
async fn a_release_lives_with_helm_4() {
    // It applies on the server, where what somebody else has changed is a conflict.
    lives("helm4", " --force-conflicts").await;
}

#[tokio::test]
async fn the_chart_of_the_server_is_right() {
    for helm in ["helm3", "helm4"] {
        let Some(helm) = installed(&format!("the chart of the server with {helm}"), helm) else { continue };
        let server = TestServer::options().vocabulary("kubernetes").start().await;
        let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/helm/orch-apiserver");
        let made = async |arguments: &[&str]| {
            let mut command = program(&server, &helm);
            command.args(&arguments[..1]).arg(&chart).args(&arguments[1..]);
            run(command).await
        };
        made(&["lint", "--strict"]).await;
        let plain = made(&["template", "--name-template=one", "--namespace=default"]).await;
        let Judged { kinds, flags } = judge(&server.admin(), "default", objects(&plain)).await;
        assert_eq!(kinds, ["ServiceAccount", "ConfigMap", "Service", "StatefulSet"]);
        assert!(flags.contains("external-hostname: one-orch-apiserver.default.svc:6443"), "{flags}");
        // With everything that can be told.
        let namespace = serde_json::json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"},
        });
        server.admin().post("/api/v1/namespaces", &namespace).await.expect(201);
        let values = server.scratch_dir().join("values.yaml");
        std::fs::write(&values, VALUES).unwrap();
        let values = format!("--values={}", values.display());
        let told = made(&["template", "--name-template=orch-apiserver", "--namespace=other", &values]).await;
        let Judged { flags, .. } = judge(&server.admin(), "other", objects(&told)).await;
        // What the pod needs is not changed; the port is the one that the service offers.
        for flag in [
            "log-level: debug",
            "data-dir: /data/orch",
            "secure-port: 6443",
            "external-hostname: orch-apiserver.other.svc:443",
        ] {
            assert!(flags.contains(flag), "{flag}: {flags}");
        }
        let service =
            server.admin().get("/api/v1/namespaces/other/services/orch-apiserver").await.expect(200);
        assert_eq!(service["spec"]["ports"][0]["port"], 443);
        let named = "--set=config.external-hostname=api.example.com";
        let told =
            made(&["template", "--name-template=orch-apiserver", "--namespace=named", &values, named]).await;
        assert!(told.contains("external-hostname: api.example.com\n"), "{told}");
        let pod = server.admin().get("/api/v1/namespaces/other/pods/orch-apiserver-0").await.expect(200);
        let spec = &pod["spec"];
        assert_eq!(spec["containers"][0]["image"], "registry.example/orch:1.2");
        assert_eq!(spec["nodeSelector"]["disk"], "fast");
        assert_eq!(spec["volumes"][1]["secret"]["secretName"], "certificates");
        assert_eq!(spec["containers"][0]["volumeMounts"][2]["mountPath"], "/certificates");
        assert_eq!(pod["metadata"]["annotations"]["example.com/a"], "b");
    }
}

fn objects(manifests: &str) -> Vec<Value> {
    let object = |text: &str| yaml::decode(text.as_bytes(), &Limits::default()).expect("it is YAML").tree;
    documents(manifests).map(object).collect()
}

/// Values for the chart of the server.
const VALUES: &str = "
image: {repository: registry.example/orch, tag: '1.2'}
imagePullSecrets: [{name: registry}]
config: {log-level: debug, data-dir: /elsewhere, secure-port: 1}
service: {type: NodePort, port: 443, annotations: {example.com/a: b}}
storage: {size: 1Gi, className: fast}
volumes: [{name: certificates, secret: {secretName: certificates}}]
volumeMounts: [{name: certificates, mountPath: /certificates, readOnly: true}]
podAnnotations: {example.com/a: b}
nodeSelector: {disk: fast}
tolerations: [{key: dedicated, operator: Exists, effect: NoSchedule}]
";

/// `forced` is the flag that overwrites what somebody else has changed.
async fn lives(helm: &str, forced: &str) {
    let Some(helm) = installed(&format!("the life of a release with {helm}"), helm) else { return };
    for vocabulary in ["orch", "kubernetes"] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let admin = server.admin();
        let run = async |line: &str| run_helm(&server, &helm, line).await;

        run("install shop CHART").await;
        assert_eq!(colours(&admin).await, ["red"; 4]);
        let deployed = listed(&run("list -o json").await);
        assert_eq!(deployed, [("shop".to_owned(), "1".to_owned(), "deployed".to_owned())]);

        run("upgrade shop CHART --set colour=blue").await;
        assert_eq!(colours(&admin).await, ["blue"; 4]);
        // What somebody else changes meanwhile is put right.
        let change = serde_json::json!({"data": {"colour": "grey"}});
        admin.merge(&format!("{IN_DEFAULT}/configmaps/shop"), &change).await.expect(200);
        run(&format!("upgrade shop CHART --set colour=green{forced}")).await;
        assert_eq!(colours(&admin).await, ["green"; 4]);

        run("rollback shop 1").await;
        assert_eq!(colours(&admin).await, ["red"; 4]);
        let deployed = listed(&run("list -o json").await);
        assert_eq!(deployed, [("shop".to_owned(), "4".to_owned(), "deployed".to_owned())]);
        let history: Value = serde_json::from_str(&run("history shop -o json").await).unwrap();
        assert_eq!(history.as_array().map(Vec::len), Some(4));

        run("uninstall shop").await;
        assert_eq!(listed(&run("list -o json").await), []);
        for kind in ["configmaps", "secrets", "serviceaccounts", "services"] {
            admin.get(&format!("{IN_DEFAULT}/{kind}/shop")).await.refused(404, "NotFound");
        }
        admin.get(DAEMON_SET).await.refused(404, "NotFound");
    }
}

async fn run_helm(server: &TestServer, helm: &Path, line: &str) -> String {
    let chart = file("chart");
    let mut command = program(server, helm);
    command.args(line.split(' ').map(|word| if word == "CHART" { chart.as_os_str() } else { word.as_ref() }));
    run(command).await
}

/// The colour in each of the objects that have one.
async fn colours(admin: &Client) -> [String; 4] {
    let colour = async |path: &str, pointer: &str| {
        let object = admin.get(path).await.expect(200);
        let colour = object.pointer(pointer).and_then(Value::as_str);
        colour.unwrap_or_else(|| panic!("no colour: {object}")).to_owned()
    };
    let secret = colour(&format!("{IN_DEFAULT}/secrets/shop"), "/data/colour").await;
    let secret = match secret.as_str() {
        "cmVk" => "red",
        "Ymx1ZQ==" => "blue",
        "Z3JlZW4=" => "green",
        other => panic!("{other} is no colour"),
    };
    admin.get(&format!("{IN_DEFAULT}/serviceaccounts/shop")).await.expect(200);
    [
        colour(&format!("{IN_DEFAULT}/configmaps/shop"), "/data/colour").await,
        secret.to_owned(),
        colour(&format!("{IN_DEFAULT}/services/shop"), "/metadata/labels/colour").await,
        colour(DAEMON_SET, "/spec/template/spec/containers/0/env/0/value").await,
    ]
}

/// Name, revision and status of each release.
fn listed(json: &str) -> Vec<(String, String, String)> {
    let releases: Vec<Value> = serde_json::from_str(json).unwrap();
    let text = |release: &Value, key: &str| {
        release[key].as_str().map_or_else(|| release[key].to_string(), str::to_owned)
    };
    releases
        .iter()
        .map(|release| (text(release, "name"), text(release, "revision"), text(release, "status")))
        .collect()
}
