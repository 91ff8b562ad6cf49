//! Daemon sets: counts that are not stored when they are zero, and values from the pod template.

use orch_runtime::{Tree, resource_def::CellContext};

use super::text;

/// How many nodes run a pod of the newest template.
pub fn daemon_set_updated(set: &Tree, _: &CellContext<'_>) -> Tree {
    count(set, "/status/updatedNumberScheduled")
}

/// How many nodes run a pod that is available.
pub fn daemon_set_available(set: &Tree, _: &CellContext<'_>) -> Tree {
    count(set, "/status/numberAvailable")
}

fn count(set: &Tree, pointer: &str) -> Tree {
    set.pointer(pointer).and_then(Tree::as_i64).unwrap_or_default().into()
}

/// The names of the containers: `a,b`.
pub fn daemon_set_containers(set: &Tree, _: &CellContext<'_>) -> Tree {
    join_containers(set, "/name")
}

/// The images of the containers: `a:1,b:2`.
pub fn daemon_set_images(set: &Tree, _: &CellContext<'_>) -> Tree {
    join_containers(set, "/image")
}

fn join_containers(set: &Tree, pointer: &str) -> Tree {
    let containers = set.pointer("/spec/template/spec/containers").and_then(Tree::as_array);
    let texts = containers.into_iter().flatten().map(|container| text(container, pointer));
    texts.collect::<Vec<_>>().join(",").into()
}

/// The selector in the syntax of query parameters: `app=a,tier in (b,c),!d`.
pub fn daemon_set_selector(set: &Tree, _: &CellContext<'_>) -> Tree {
    let labels = set.pointer("/spec/selector/matchLabels").and_then(Tree::as_object);
    let labels =
        labels.into_iter().flatten().map(|(key, value)| (key.as_str(), format!("{key}={}", text(value, ""))));
    let expressions = set.pointer("/spec/selector/matchExpressions").and_then(Tree::as_array);
    let expressions = expressions.into_iter().flatten().map(|it| (text(it, "/key"), requirement(it)));
    let mut parts: Vec<(&str, String)> = labels.chain(expressions).collect();
    // What is asked of the same label keeps its order.
    parts.sort_by_key(|(key, _)| *key);
    parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",").into()
}

fn requirement(it: &Tree) -> String {
    let key = text(it, "/key");
    let values = it.get("values").and_then(Tree::as_array).into_iter().flatten();
    let mut values: Vec<&str> = values.filter_map(Tree::as_str).collect();
    values.sort_unstable();
    let values = values.join(",");
    match text(it, "/operator") {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} notin ({values})"),
        "Exists" => key.to_owned(),
        _ => format!("!{key}"),
    }
}
