//! What access by roles costs: a decision among many roles and bindings, a change of a role, and a GET beside
//! one that everybody may make.

use std::{hint::black_box, time::Instant};

use orch_auth::{
    authorizer::{Attributes, ResourceTarget, Target},
    rbac::{
        index::Index,
        policy::{Binding, PolicyName, PolicyRule, Role, Subject},
    },
    user::{GROUP_AUTHENTICATED, UserInfo},
};
use orch_tests::TestServer;
use serde_json::json;

use super::{
    process,
    report::{Report, Wanted},
    side_by_side,
};

/// Roles, bindings, and bindings of the user that decisions are about.
const ROLES: usize = 5_000;
const BINDINGS: usize = 10_000;
const OWN_BINDINGS: usize = 20;

/// How many decisions are measured.
const DECISIONS: u32 = 200_000;

const BINDING_PATH: &str = "/apis/rbac.authorization.orch.io/v1/namespaces/default/rolebindings";

/// Everything of this file.
pub async fn measure(report: &mut Report) {
    let before = process::resident_bytes(std::process::id());
    let mut index = index();
    let memory = process::resident_bytes(std::process::id()) - before;
    report.size("index of 5,000 roles, 10,000 bindings", memory, Wanted::AtMost(32.0));
    decisions(report, &index);
    changes(report, &mut index);
    gets(report).await;
}

fn index() -> Index {
    let mut index = Index::new("rbac.authorization.orch.io");
    for number in 0..ROLES {
        index.set_role(&PolicyName::of_cluster(format!("role-{number}")), Some(role(number)));
    }
    for number in 0..BINDINGS {
        // Those of the user lie among the others, half of them in one namespace.
        let is_own = number % (BINDINGS / OWN_BINDINGS) == 7;
        let user = if is_own { "bob".to_owned() } else { format!("user-{number}") };
        let namespace = if number % 1000 < 500 { "default" } else { "" };
        let binding = Binding {
            role: PolicyName::of_cluster(format!("role-{}", number % ROLES)),
            subjects: vec![Subject::User(user)],
        };
        index.set_binding(&PolicyName::namespaced(namespace, format!("binding-{number}")), Some(binding));
    }
    index
}

fn role(number: usize) -> Role {
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let rule = |resources: &[String], verbs: &[&str]| PolicyRule {
        verbs: list(verbs),
        groups: list(&["", "apps"]),
        resources: resources.to_vec(),
        ..PolicyRule::default()
    };
    let resources = [format!("resource-{number}"), format!("resource-{number}/status"), "pods".to_owned()];
    Role {
        rules: vec![
            rule(&resources, &["get", "list", "watch"]),
            rule(&resources[..2], &["create", "update", "patch", "delete"]),
        ],
        ..Role::default()
    }
}

/// A decision that some binding allows, and one that none does: then all are looked at.
fn decisions(report: &mut Report, index: &Index) {
    let user = UserInfo::new("bob", ["devs", "ops", GROUP_AUTHENTICATED]);
    for (what, resource, allowed) in [
        ("decision, allowed", format!("resource-{}", (BINDINGS - BINDINGS / OWN_BINDINGS + 7) % ROLES), true),
        ("decision, not allowed", "secrets".to_owned(), false),
    ] {
        let target = ResourceTarget {
            version: "v1",
            resource: &resource,
            namespace: "default",
            name: "a",
            ..ResourceTarget::default()
        };
        let attributes = Attributes { user: &user, verb: "get", target: Target::Resource(target) };
        assert_eq!(index.decide(&attributes).is_allowed(), allowed);
        let began = Instant::now();
        for _ in 0..DECISIONS {
            black_box(index.decide(black_box(&attributes)));
        }
        report.micros(what, began.elapsed() / DECISIONS, Wanted::AtMost(1.0));
    }
}

/// A change of one role costs what the role is, not what the index holds.
fn changes(report: &mut Report, index: &mut Index) {
    const CHANGES: u32 = 10_000;
    let roles: Vec<_> = (0..CHANGES).map(|number| role(number as usize % 100)).collect();
    let name = PolicyName::of_cluster("role-7");
    let began = Instant::now();
    for role in roles {
        index.set_role(&name, Some(role));
    }
    report.micros("change of a role", began.elapsed() / CHANGES, Wanted::AtMost(20.0));
}

/// GET by a user who may because of a role, beside one for whom everything is allowed.
async fn gets(report: &mut Report) {
    let open = TestServer::options().flag("--authorization-mode=AlwaysAllow").start().await;
    let guarded = TestServer::start().await;
    let binding = json!({
        "metadata": {"name": "b"}, "subjects": [{"kind": "Group", "name": "devs"}],
        "roleRef": {"kind": "ClusterRole", "name": "view"},
    });
    guarded.admin().post(BINDING_PATH, &binding).await.expect(201);
    let (guarded, open) = (("GET with RBAC", &guarded), ("GET with AlwaysAllow", &open));
    side_by_side::gets(report, guarded, open, Wanted::AtLeast(0.96)).await;
}
