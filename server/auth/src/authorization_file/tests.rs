//! Files that are right, and what is refused, with its place.

use std::fs;

use orch_runtime::vocabulary::EXAMPLE;

use super::{ConfiguredKind, read};

/// What the authorizers are, or what is wrong.
fn outcome(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let kubeconfig = "contexts: [{name: c, context: {cluster: k}}]\n\
                      clusters: [{name: k, cluster: {server: 'http://localhost:1'}}]\n";
    fs::write(path("kubeconfig"), kubeconfig).unwrap();
    fs::write(path("wrong"), "{}").unwrap();
    fs::write(path("file"), text.replace("FOLDER", &folder.path().display().to_string())).unwrap();
    let name = |kind: &ConfiguredKind| match kind {
        ConfiguredKind::Mode(mode) => mode.name(),
        ConfiguredKind::Webhook(_) => "Webhook",
    };
    match read(path("file").as_ref(), &EXAMPLE) {
        Ok(all) => {
            let all = all.iter().map(|of| format!("{}={}", of.name, name(&of.kind)));
            all.collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string().replace(&format!("{}/", folder.path().display()), ""),
    }
}

fn file(authorizers: &str) -> String {
    format!(
        "apiVersion: apiserver.config.example.io/v1\nkind: AuthorizationConfiguration\n\
         authorizers:\n{authorizers}"
    )
}

const HOOK: &str = "- type: Webhook
  name: hook
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo:
      type: KubeConfigFile
      kubeConfigFile: FOLDER/kubeconfig
";

#[test]
fn right_files_are_read() {
    let all = file(&format!("{HOOK}- {{type: Node, name: node}}\n- {{type: RBAC, name: rbac}}\n"));
    assert_eq!(outcome(&all), "hook=Webhook node=Node rbac=RBAC");
    let two = file(&format!("{HOOK}{}", HOOK.replace("name: hook", "name: other.hook")));
    assert_eq!(outcome(&two), "hook=Webhook other.hook=Webhook");
    let conditions = format!(
        "{HOOK}    authorizedTTL: 1m\n    unauthorizedTTL: 10s\n    matchConditions:\n    \
         - expression: has(request.resourceAttributes)\n    - expression: \"'a' in request.groups\"\n"
    );
    assert_eq!(outcome(&file(&conditions)), "hook=Webhook");
}

#[test]
fn wrong_files_are_refused_with_a_place() {
    for (text, expected) in [
        (file("  []"), "file:1:1: authorizers must not be empty"),
        (
            file("  []").replace("/v1", "/v9"),
            "file:1:13: apiVersion must be \"apiserver.config.example.io/v1\"",
        ),
        (
            file("  []").replace("AuthorizationC", "C"),
            "file:2:7: kind must be \"AuthorizationConfiguration\"",
        ),
        (file("- {type: ABAC, name: a}"), "file:4:10: type must be one of \"Webhook\", \"Node\", \"RBAC\""),
        (file("- {type: Node, name: A}"), "file:4:22: name a lowercase"),
        (file("- {type: Node, name: a}\n- {type: RBAC, name: a}"), "file:5:22: there are two authorizers"),
        (file("- {type: Node, name: a}\n- {type: Node, name: b}"), "file:5:10: there are two authorizers"),
        (file("- {type: Webhook, name: a}"), "file:4:3: webhook is missing"),
        (file("- {type: Node, name: a, nmae: b}"), "file:4:25: "),
    ] {
        let found = outcome(&text);
        assert!(found.starts_with(expected), "{found}\n{text}");
        assert_eq!(found.lines().count(), 1, "{found}");
    }
}

#[test]
fn wrong_webhooks_are_refused_with_a_place() {
    for (from, to, expected) in [
        ("3s", "31s", "file:7:14: timeout must not be longer than 30s"),
        ("3s", "0s", "file:7:14: timeout must be greater than zero"),
        ("3s", "3", "file:7:14: timeout: "),
        ("timeout: 3s", "authorizedTTL: 1s", "file:"),
        ("timeout: 3s", "timeout: 3s\n    authorizedTTL: -1s", "file:8:20: authorizedTTL must be greater"),
        ("Version: v1\n    match", "Version: v2\n    match", "file:8:33: subjectAccessReviewVersion must be"),
        ("Version: v1\n    failure", "Version: v1beta1\n    failure", "file:9:47: matchConditionSubject"),
        ("Deny", "Allow", "file:10:20: failurePolicy must be \"NoOpinion\" or \"Deny\""),
        (
            "type: KubeConfigFile",
            "type: InClusterConfig",
            "file:12:13: InClusterConfig would make the server",
        ),
        ("type: KubeConfigFile", "type: Other", "file:12:13: type must be \"KubeConfigFile\""),
        ("FOLDER/kubeconfig", "kubeconfig", "file:13:23: kubeConfigFile must be an absolute path"),
        ("FOLDER/kubeconfig", "FOLDER", "file:13:23: kubeConfigFile must be a regular file"),
        ("FOLDER/kubeconfig", "FOLDER/gone", "file:13:23: kubeConfigFile must be a regular file"),
        ("FOLDER/kubeconfig", "FOLDER/wrong", "file:13:23: wrong: there is no current-context"),
    ] {
        let found = outcome(&file(&HOOK.replace(from, to)));
        assert!(found.starts_with(expected), "{found}\n{to}");
        assert_eq!(found.lines().count(), 1, "{found}");
    }
}

#[test]
fn wrong_conditions_are_refused_with_their_place() {
    let with = |conditions: &str| outcome(&file(&format!("{HOOK}    matchConditions:\n{conditions}")));
    for (conditions, expected) in [
        ("    - expression: request.usr == ''", "file:15:19: expression:1:1: SubjectAccessReviewSpec has no"),
        ("    - expression: request.user", "file:15:19: expression:1:1: the expression has the type string"),
        ("    - expression: 'true'\n    - expression: 'a b'", "file:16:19: expression:1:3: expected an"),
        ("    - expression: 'true'\n    - expression: 'true'", "file:16:19: the same expression"),
        ("    - expression: ''", "file:15:19: expression must not be empty"),
    ] {
        let found = with(conditions);
        assert!(found.starts_with(expected), "{found}\n{conditions}");
    }
    let conditions = |count: usize| {
        let lines: Vec<String> =
            (0..count).map(|number| format!("    - expression: request.user != '{number}'\n")).collect();
        lines.concat()
    };
    assert_eq!(with(&conditions(64)), "hook=Webhook");
    assert_eq!(with(&conditions(65)), "file:79:19: there are more than 64 matchConditions");
}
