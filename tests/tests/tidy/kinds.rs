//! Kinds are named where they belong: in schema files, generated code, and what gives a kind behaviour of its
//! own. The rest of the server treats all kinds alike, so none of their names stands in its code.
//!
//! Looked at are texts that are such a name, or have one as a segment of a path.

use std::collections::BTreeSet;

use crate::{
    rust_text::{Token, TokenKind, product_tokens},
    source::{SOURCES, none},
};

/// Where kinds may be named: parts of paths.
const AT_HOME: &[&str] = &[
    "generated/",
    // Its file `sources.rs` gives authentication the objects that it looks at.
    "server/kinds/",
    "server/controllers/",
    // The mode `Node` of authorization is about nodes and what they read.
    "server/auth/src/node/",
];

/// Names that stand elsewhere all the same: file, name, reason.
const EXCEPTED: &[(&str, &str, &str)] = &[
    ("server/http/src/documents/openapi/paths.rs", "namespaces", GRAMMAR),
    ("server/auth/src/rbac/index.rs", "Role", REASON),
    ("server/auth/src/rbac/index.rs", "ClusterRole", REASON),
    ("server/auth/src/authorization.rs", "Node", MODE),
    ("server/auth/src/authorization_file.rs", "Node", MODE),
    ("server/audit/src/event.rs", "Event", "the kind of a line of the audit log, which is no resource"),
    ("server/auth/src/impersonation.rs", "serviceaccounts", "users with this kind have a right of their own"),
    ("server/auth/src/authenticator/webhook_token.rs", "TokenReview", "what webhooks are sent and answer"),
    ("server/auth/src/webhook/review.rs", "SubjectAccessReview", "what webhooks are sent and answer"),
    ("server/http/src/request/info.rs", "namespaces", GRAMMAR),
    ("server/registry/src/refusal.rs", "namespaces", GRAMMAR),
    ("server/http/src/fairness/dump.rs", "Namespace", "a column, which has the reference's name"),
];

const MODE: &str = "the name of a mode, as operators write it";
const REASON: &str = "a word of the reasons that callers are told";
const GRAMMAR: &str = "a segment of every path of a namespaced kind";

#[test]
fn kinds_are_named_where_they_belong() {
    let kinds = orch_api::registry().iter().flat_map(|group_version| group_version.resources);
    let names: BTreeSet<&str> = kinds.flat_map(|def| [def.kind, def.list_kind, def.plural]).collect();
    assert!(names.contains("ConfigMap") && names.contains("configmaps"), "the kinds are not found");
    let mut used = BTreeSet::new();
    let mut problems = Vec::new();
    for source in SOURCES.iter().filter(|source| !AT_HOME.iter().any(|part| source.name.contains(part))) {
        for (line, name) in kinds_named(&source.product_tokens(), &names) {
            if EXCEPTED.iter().any(|(file, excepted, _)| (*file, *excepted) == (source.name.as_str(), name)) {
                used.insert((source.name.as_str(), name));
            } else {
                problems.push(format!("{}:{line}: {name}", source.name));
            }
        }
    }
    let unused = EXCEPTED.iter().filter(|(file, name, _)| !used.contains(&(*file, *name)));
    problems.extend(unused.map(|(file, name, _)| format!("{file}: {name} is excepted without need")));
    none(&problems);
}

/// The names in texts, with their lines.
fn kinds_named<'t>(tokens: &[Token<'t>], names: &BTreeSet<&str>) -> Vec<(usize, &'t str)> {
    let texts = tokens.iter().filter(|token| token.kind == TokenKind::Text);
    let segments = texts.flat_map(|token| token.text.split('/').map(|segment| (token.line, segment)));
    segments.filter(|(_, segment)| names.contains(segment)).collect()
}

#[test]
fn kinds_are_found_in_texts_and_paths() {
    let names = BTreeSet::from(["Pod", "pods", "namespaces"]);
    let text = "let a = \"Pod\"; // \"Pod\"\nlet pods = \"/api/v1/namespaces/{name}/pods\";\nlet b = \"a Pod of pods\";";
    assert_eq!(kinds_named(&product_tokens(text), &names), [(1, "Pod"), (2, "namespaces"), (2, "pods")]);
}
