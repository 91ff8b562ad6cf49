//! Manifests with fields that nobody knows: kubectl lets the server judge them, and tells what it says.

use std::fs;

use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
};

const MANIFEST: &str = "\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: a}}
  minReadySecond: 5
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: a}]}
";

#[tokio::test]
async fn unknown_fields_are_refused_or_told_as_asked() {
    if !is_installed("validation with kubectl") {
        return;
    }
    for vocabulary in ["orch", "kubernetes"] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let kubectl = Kubectl { server: &server };
        let file = |name: &str| {
            fs::write(server.scratch_dir().join(name), MANIFEST.replace("NAME", name)).unwrap();
            name.to_owned()
        };
        let unknown = "unknown field \"spec.minReadySecond\"";
        let name = file("refused");
        for verb in ["create", "apply"] {
            for flag in ["", " --validate=true", " --validate=strict"] {
                let line = format!("{verb} --filename={name}{flag}");
                kubectl.fails(&line, &["strict decoding error", unknown]).await;
            }
        }
        kubectl.prints("get daemonsets --output=name", "").await;
        for verb in ["create", "apply"] {
            let name = file(&format!("told-{verb}"));
            let (success, text) = kubectl.output(&format!("{verb} --filename={name} --validate=warn")).await;
            assert!(success && text.contains(&format!("Warning: {unknown}")), "{text}");
            let name = file(&format!("dropped-{verb}"));
            kubectl.shows(&format!("{verb} --filename={name} --validate=ignore"), &["created"]).await;
        }
        let text = kubectl.run("get daemonsets --output=yaml").await;
        assert_eq!((text.matches("kind: DaemonSet").count(), text.contains("minReadySecond: ")), (4, false));
    }
}
