//! The usual commands, in both vocabularies.

use std::{process::Stdio, time::Duration};

use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

#[tokio::test]
async fn the_usual_commands_work_in_the_orch_vocabulary() {
    if is_installed("the usual commands in the orch vocabulary") {
        the_usual_commands_work("orch", "orch-system", "coordination.orch.io/v1").await;
    }
}

#[tokio::test]
async fn the_usual_commands_work_in_the_kubernetes_vocabulary() {
    if is_installed("the usual commands in the kubernetes vocabulary") {
        the_usual_commands_work("kubernetes", "kube-system", "coordination.k8s.io/v1").await;
    }
}

/// Who looks closely sees which flow schema and level a request belonged to.
#[tokio::test]
async fn answers_show_where_their_requests_belonged() {
    if !is_installed("headers of priority and fairness") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let kubectl = Kubectl { server: &server };
    let uid = async |kind: &str| {
        kubectl
            .run(&format!("get {kind}.flowcontrol.apiserver.k8s.io exempt -o jsonpath={{.metadata.uid}}"))
            .await
    };
    let (schema, level) = (uid("flowschemas").await, uid("prioritylevelconfigurations").await);
    let headers = ["X-Kubernetes-Pf-Flowschema-Uid", "X-Kubernetes-Pf-Prioritylevel-Uid"];
    let [schema, level] = [format!("{}: {schema}", headers[0]), format!("{}: {level}", headers[1])];
    kubectl.shows("get namespaces -v=8", &[&schema, &level]).await;
}

/// The tool spells the groups of these commands itself, in one vocabulary.
#[tokio::test]
async fn commands_with_built_in_groups_work_in_both_vocabularies() {
    if !is_installed("commands of kubectl with built-in groups") {
        return;
    }
    for (vocabulary, suffix) in [("orch", "orch.io"), ("kubernetes", "k8s.io")] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let kubectl = Kubectl { server: &server };
        kubectl.shows("auth whoami", &["Username", "system:masters"]).await;
        kubectl.prints("auth can-i create pods", "yes").await;
        kubectl.shows("auth can-i --list", &["[*]"]).await;
        acts_as_somebody_else(&kubectl).await;
        makes_a_token(&kubectl).await;
        let kind = |kind: &str| format!("{kind}.rbac.authorization.{suffix}");
        for (line, made) in [
            ("create role reader --verb=get --resource=pods", format!("{}/reader created", kind("role"))),
            ("create clusterrole all --verb=* --resource=*", format!("{}/all created", kind("clusterrole"))),
            ("create rolebinding b --role=reader --user=bob", format!("{}/b created", kind("rolebinding"))),
            (
                "create clusterrolebinding b --clusterrole=all --group=devs",
                format!("{}/b created", kind("clusterrolebinding")),
            ),
            (
                "create priorityclass high --value=1000",
                format!("priorityclass.scheduling.{suffix}/high created"),
            ),
        ] {
            let text = kubectl.run(line).await;
            // It prints the group that it has built in.
            let expected = made.replace("orch.io", "k8s.io");
            assert_eq!(text.trim_end(), expected, "{line}");
        }
        std::fs::write(server.scratch_dir().join("role.json"), ROLE).unwrap();
        let reconciled = "role.rbac.authorization.k8s.io/writer reconciled";
        kubectl.shows("auth reconcile -f role.json", &[reconciled]).await;
        let own = format!("apiVersion: rbac.authorization.{suffix}/v1");
        kubectl.shows("get role writer -o yaml", &[&own]).await;
        kubectl
            .shows("get rolebinding b -o yaml", &[&format!("apiGroup: rbac.authorization.{suffix}")])
            .await;
        kubectl.shows("describe role reader", &["pods"]).await;
        kubectl.shows("get priorityclass high", &["1000"]).await;
    }
}

async fn acts_as_somebody_else(kubectl: &Kubectl<'_>) {
    let robot = "system:serviceaccount:default:robot";
    kubectl.shows("auth whoami --as=eve", &["Username", "eve", "[system:authenticated]"]).await;
    kubectl
        .shows(
            "auth whoami --as=eve --as-group=devs --as-group=ops --as-uid=7",
            &["eve", "[devs ops system:authenticated]", "7"],
        )
        .await;
    kubectl.shows(&format!("auth whoami --as={robot}"), &[robot, "system:serviceaccounts:default"]).await;
    kubectl.fails("auth can-i create pods --as=eve", &["no"]).await;
    kubectl.prints("auth can-i create pods --as=eve --as-group=system:masters", "yes").await;
    kubectl.shows("auth can-i --list --as=eve", &["selfsubjectaccessreviews"]).await;
    kubectl.fails("get pods --as=eve", &[r#"User "eve" cannot list resource "pods""#]).await;
    kubectl.fails("get pods --as-group=devs", &["without impersonating a user"]).await;
}

/// A role as files of other projects have it.
const ROLE: &str = r#"{
    "kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1",
    "metadata": {"name": "writer", "namespace": "default"},
    "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["update"]}]
}"#;

async fn makes_a_token(kubectl: &Kubectl<'_>) {
    let server = kubectl.server;
    kubectl.prints("create serviceaccount robot", "serviceaccount/robot created").await;
    let token = kubectl.run("create token robot --duration=1h").await;
    // Without the administrator's certificate.
    let (url, token) = (server.url(), token.trim_end());
    let whoami = format!(
        "--kubeconfig=/dev/null --insecure-skip-tls-verify --server={url} --token={token} auth whoami"
    );
    kubectl.shows(&whoami, &["system:serviceaccount:default:robot"]).await;
    kubectl
        .fails("create token robot --duration=1m", &["may not specify a duration less than 10 minutes"])
        .await;
}

async fn the_usual_commands_work(vocabulary: &'static str, system: &str, leases: &str) {
    let server = TestServer::options().vocabulary(vocabulary).start().await;
    let kubectl = Kubectl { server: &server };

    kubectl.shows("get ns", &["NAME", "default", system]).await;
    kubectl.shows("api-resources", &["configmaps", "cm", "ConfigMap", "namespaces", leases, "Lease"]).await;
    kubectl.shows("api-versions", &["v1", leases]).await;
    kubectl.shows("version", &["Server Version: v1."]).await;
    kubectl
        .shows("explain configmap.data", &["KIND:", "ConfigMap", "FIELD: data", "<map[string]string>"])
        .await;
    kubectl.shows("explain lease --recursive", &["holderIdentity"]).await;
    kubectl.shows("explain pod.spec.containers.resources.limits", &["<map[string]Quantity>"]).await;
    kubectl.shows("explain service.spec.ports.targetPort", &["<IntOrString>"]).await;
    let of_v2 = "explain --output=plaintext-openapiv2 pod.spec.containers";
    kubectl.shows(of_v2, &["KIND:", "Pod", "RESOURCE: containers", "imagePullPolicy"]).await;

    kubectl.prints("create configmap c --from-literal=k=v", "configmap/c created").await;
    kubectl.fails("create configmap c --from-literal=k=v", &[r#"configmaps "c" already exists"#]).await;
    kubectl
        .shows("get configmap c -o yaml", &["apiVersion: v1", "kind: ConfigMap", "  k: v", "  name: c"])
        .await;
    kubectl.prints("get cm c -o jsonpath={.data.k}", "v").await;
    kubectl.prints("label configmap c colour=red", "configmap/c labeled").await;
    kubectl.prints("get cm -l colour=red -o name", "configmap/c").await;
    kubectl.prints("annotate configmap c note=here", "configmap/c annotated").await;

    watches_what_another_changes(&kubectl).await;

    kubectl.prints("create secret generic s --from-literal=password=hunter2", "secret/s created").await;
    kubectl.prints("get secret s -o jsonpath={.data.password}", "aHVudGVyMg==").await;
    kubectl.prints("create serviceaccount robot", "serviceaccount/robot created").await;
    kubectl.prints("create namespace team", "namespace/team created").await;
    kubectl.prints("-n team create configmap inner --from-literal=k=v", "configmap/inner created").await;
    kubectl.shows("get cm -A", &["team", "inner", "default", "c"]).await;

    applies_files(&kubectl).await;
    applies_on_the_server(&kubectl).await;
    changes_in_every_way(&kubectl).await;

    kubectl.prints("delete configmap c", r#"configmap "c" deleted"#).await;
    kubectl.fails("get configmap c", &["NotFound"]).await;
    kubectl.prints("delete namespace team", r#"namespace "team" deleted"#).await;
    kubectl.fails("get namespace team", &["NotFound"]).await;
    kubectl.fails("get nothings", &["doesn't have a resource type"]).await;
}

/// `get -w` in one shell shows what happens in another.
async fn watches_what_another_changes(kubectl: &Kubectl<'_>) {
    let mut watching = kubectl.command("get configmap c -w -o jsonpath={.data.k}{\"\\n\"}");
    let mut watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = async || {
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        line.expect("the watch shows the change").unwrap().expect("the watch goes on")
    };
    assert_eq!(next().await, "v");
    for value in ["2", "3"] {
        let line = format!(r#"patch configmap c --type=merge -p {{"data":{{"k":"{value}"}}}}"#);
        kubectl.prints(&line, "configmap/c patched").await;
        assert_eq!(next().await, value);
    }
    watching.kill().await.unwrap();
}

/// Client-side apply: created, unchanged, changed, and a field that leaves the file leaves the object.
async fn applies_files(kubectl: &Kubectl<'_>) {
    let file = kubectl.server.scratch_dir().join("app.yaml");
    let write = |data: &str| {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n{data}");
        std::fs::write(&file, text).unwrap();
    };
    let apply = "apply --server-side=false -f app.yaml";
    write("  a: \"1\"\n  b: \"1\"\n");
    kubectl.prints(apply, "configmap/app created").await;
    kubectl.prints(apply, "configmap/app unchanged").await;
    write("  a: \"2\"\n");
    kubectl.prints(apply, "configmap/app configured").await;
    kubectl.prints("get cm app -o jsonpath={.data}", r#"{"a":"2"}"#).await;
    kubectl.prints("delete -f app.yaml", r#"configmap "app" deleted"#).await;
}

/// Server-side apply: who owns what, the words of a conflict, and taking over.
async fn applies_on_the_server(kubectl: &Kubectl<'_>) {
    let file = kubectl.server.scratch_dir().join("owned.yaml");
    let write = |value: &str| {
        let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: owned\n";
        std::fs::write(&file, format!("{head}data:\n  k: \"{value}\"\n")).unwrap();
    };
    write("1");
    kubectl.prints("apply --server-side -f owned.yaml", "configmap/owned serverside-applied").await;
    write("2");
    let by_other = "apply --server-side --field-manager=other -f owned.yaml";
    let conflict = r#"conflict with "kubectl": .data.k"#;
    kubectl.fails(by_other, &["Apply failed with 1 conflict", conflict, "--force-conflicts"]).await;
    let (same, difference) = kubectl.output("diff -f owned.yaml").await;
    assert!(
        !same && difference.contains("-  k: \"1\"") && difference.contains("+  k: \"2\""),
        "{difference}"
    );
    let forced = format!("{by_other} --force-conflicts");
    kubectl.prints(&forced, "configmap/owned serverside-applied").await;
    kubectl.prints("get cm owned -o jsonpath={.data.k}", "2").await;
    kubectl.prints("diff -f owned.yaml", "").await;
}

/// Patches of each type, replacing, editing, and deleting in each way.
async fn changes_in_every_way(kubectl: &Kubectl<'_>) {
    kubectl.prints("create cm many --from-literal=a=1", "configmap/many created").await;
    for patch in [
        r#"--type=merge -p {"data":{"b":"2"}}"#,
        r#"--type=strategic -p {"metadata":{"finalizers":["example.com/f"]}}"#,
        r#"--type=json -p [{"op":"remove","path":"/metadata/finalizers"}]"#,
    ] {
        kubectl.prints(&format!("patch cm many {patch}"), "configmap/many patched").await;
    }
    kubectl.prints("get cm many -o jsonpath={.data}{.metadata.finalizers}", r#"{"a":"1","b":"2"}"#).await;
    kubectl
        .fails(r#"patch cm many --type=json -p [{"op":"test","path":"/data/a","value":"9"}]"#, &["invalid"])
        .await;

    let text = kubectl.run("get cm many -o yaml").await;
    std::fs::write(kubectl.server.scratch_dir().join("many.yaml"), text.replace("a: \"1\"", "a: \"7\""))
        .unwrap();
    kubectl.prints("replace -f many.yaml", "configmap/many replaced").await;
    kubectl.fails("replace -f many.yaml", &["the object has been modified"]).await;
    kubectl.shows("replace --force -f many.yaml", &["deleted", "replaced"]).await;
    kubectl.prints("get cm many -o jsonpath={.data.a}", "7").await;

    let editor = kubectl.server.scratch_dir().join("editor.sh");
    std::fs::write(&editor, "sed -i 's/a: \"7\"/a: \"8\"/' \"$1\"").unwrap();
    let mut edit = kubectl.command("edit cm many");
    let editor = format!("sh {}", editor.display());
    let edited = tokio::time::timeout(PATIENCE, edit.env("KUBE_EDITOR", editor).output());
    let edited = edited.await.expect("the edit ends").unwrap();
    assert!(String::from_utf8_lossy(&edited.stdout).contains("configmap/many edited"), "{edited:?}");

    let dry_run = "create cm never --from-literal=a=1 --dry-run=server -o jsonpath={.metadata.name}";
    kubectl.prints(dry_run, "never").await;
    kubectl.fails("get cm never", &["NotFound"]).await;
    // The tool knows one name of the group that it asks.
    if kubectl.server.vocabulary() == "kubernetes" {
        kubectl.prints("auth can-i create configmaps", "yes").await;
    }
    kubectl
        .prints(
            "wait cm/many --for=jsonpath={.metadata.name}=many --timeout=20s",
            "configmap/many condition met",
        )
        .await;
    for number in 0..7 {
        kubectl.run(&format!("create cm page-{number} --from-literal=a=1")).await;
    }
    let listed = kubectl.run("get cm --chunk-size=2 -o name").await;
    assert_eq!(listed.matches("configmap/page-").count(), 7, "{listed}");
    for (name, how) in [("page-0", "background"), ("page-1", "foreground"), ("page-2", "orphan")] {
        deletes_with_dependents(kubectl, name, how).await;
    }
    kubectl.run("delete cm many owned page-3 page-4 page-5 page-6").await;
}

/// What belongs to a config map goes with it, or stays without the reference.
async fn deletes_with_dependents(kubectl: &Kubectl<'_>, name: &str, how: &str) {
    let uid = kubectl.run(&format!("get cm {name} -o jsonpath={{.metadata.uid}}")).await;
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid});
    for number in 0..3 {
        let dependent = format!("of-{name}-{number}");
        kubectl.run(&format!("create secret generic {dependent} --from-literal=a=1")).await;
        let change = json!({"metadata": {"ownerReferences": [owner]}});
        kubectl.run(&format!("patch secret {dependent} --type=merge -p={change}")).await;
    }
    kubectl.shows(&format!("delete cm {name} --cascade={how}"), &["deleted"]).await;
    kubectl.fails(&format!("get cm {name}"), &["NotFound"]).await;
    for number in 0..3 {
        let dependent = format!("of-{name}-{number}");
        if how == "orphan" {
            let owners = format!("get secret {dependent} -o jsonpath={{.metadata.ownerReferences}}");
            kubectl.prints(&owners, "").await;
            kubectl.run(&format!("delete secret {dependent}")).await;
        } else {
            kubectl.run(&format!("wait secret/{dependent} --for=delete --timeout=50s")).await;
        }
    }
}
