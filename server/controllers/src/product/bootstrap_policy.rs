//! The roles and bindings that every server has (`schema/seed`): made where they are missing, and filled up
//! where something was taken out of them, at each start.
//!
//! What an operator adds stays. The annotation `autoupdate: "false"` on one keeps it as it is. A binding
//! whose role is another one is made anew, because the role of a binding cannot change.

use std::fmt::Display;

use futures_util::future::try_join_all;
use orch_api::{
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
    seed,
};
use orch_registry::{
    client::Client,
    error::{ApiError, Result},
    options::DeletionOptions,
};
use orch_runtime::{
    Tree,
    object::{Kind, typed_from_tree},
    resource_def::ResourceDef,
    vocabulary::Vocabulary,
};
use serde_json::json;

use super::{
    present::{Present, present},
    role_aggregation,
};

/// The last part of the annotation that tells whether the server keeps an object up to date.
const AUTOUPDATE: &str = "autoupdate";

/// The role of nodes.
const NODES: &str = "system:node";

/// An object of the seed.
struct Wanted {
    def: &'static ResourceDef,
    namespace: String,
    tree: Tree,
}

/// Makes and fills up all of them. To be called before anything listens, when the system namespaces are
/// there.
///
/// # Errors
/// As of POST and PUT. A file of the seed that cannot be read is an internal error.
pub async fn reconcile(client: &Client) -> Result<()> {
    let wanted = wanted(client.core().vocabulary())?;
    // Together, so that they share transactions.
    try_join_all(wanted.iter().map(|wanted| reconcile_one(client, wanted))).await?;
    role_aggregation::fill_all(client).await
}

/// The cluster role of nodes as every server starts with it.
///
/// # Errors
/// Where the seed cannot be read.
pub fn node_role(vocabulary: &Vocabulary) -> Result<ClusterRole> {
    let unusable = |why: &dyn Display| ApiError::internal("the seed has no role of nodes", why);
    let mut wanted =
        wanted(vocabulary)?.into_iter().filter(|wanted| wanted.def.kind == ClusterRole::RESOURCE.kind);
    let role = wanted.find(|wanted| text(&wanted.tree["metadata"], "name") == NODES);
    let role = role.ok_or_else(|| unusable(&NODES))?;
    typed_from_tree(role.tree).map_err(|error| unusable(&error))
}

async fn reconcile_one(client: &Client, wanted: &Wanted) -> Result<()> {
    let Wanted { def, namespace, tree } = wanted;
    // A server without the kind has no such objects.
    let Some(resource) = client.core().catalog().served(def) else { return Ok(()) };
    let name = text(&tree["metadata"], "name");
    let current = match present(client, resource, namespace, name) {
        Present::Nothing => return create(client, wanted).await,
        Present::Damaged => return Ok(()),
        Present::Object(current) => current,
    };
    let annotation = annotation(client.core().vocabulary());
    if current["metadata"]["annotations"].get(&annotation).and_then(Tree::as_str) == Some("false") {
        return Ok(());
    }
    if current.get("roleRef") != tree.get("roleRef") {
        client.delete(resource, namespace, name, DeletionOptions::default()).await?;
        return create(client, wanted).await;
    }
    let mut filled = current.clone();
    fill_up(&mut filled, tree);
    if filled == current {
        return Ok(());
    }
    client.update(resource, "", filled).await.map(drop)
}

async fn create(client: &Client, wanted: &Wanted) -> Result<()> {
    let Some(resource) = client.core().catalog().served(wanted.def) else { return Ok(()) };
    match client.create(resource, &wanted.namespace, wanted.tree.clone()).await {
        Ok(_) | Err(ApiError::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Puts back what is missing in an object.
fn fill_up(current: &mut Tree, wanted: &Tree) {
    for map in ["labels", "annotations"] {
        for (key, value) in wanted["metadata"][map].as_object().into_iter().flatten() {
            current["metadata"][map][key] = value.clone();
        }
    }
    fill_list(current, wanted, "/rules", "rules", includes_rule);
    fill_list(current, wanted, "/subjects", "subjects", Tree::eq);
    let selectors = "/aggregationRule/clusterRoleSelectors";
    if current.pointer(selectors).is_none() && wanted.pointer(selectors).is_some() {
        current["aggregationRule"] = wanted["aggregationRule"].clone();
    }
}

/// Adds to a list what none of its entries includes.
fn fill_list(
    current: &mut Tree,
    wanted: &Tree,
    pointer: &str,
    field: &str,
    includes: fn(&Tree, &Tree) -> bool,
) {
    let present = current.pointer(pointer).and_then(Tree::as_array).cloned().unwrap_or_default();
    let entries = wanted.pointer(pointer).and_then(Tree::as_array).into_iter().flatten();
    let missing: Vec<&Tree> =
        entries.filter(|entry| !present.iter().any(|present| includes(present, entry))).collect();
    if !missing.is_empty() {
        current[field] = present.iter().chain(missing).cloned().collect();
    }
}

/// Whether a rule has all permissions of another one.
fn includes_rule(rule: &Tree, wanted: &Tree) -> bool {
    let list = |rule: &Tree, field: &str| rule[field].as_array().cloned().unwrap_or_default();
    let covers = |field: &str| {
        let present = list(rule, field);
        present.contains(&json!("*")) || list(wanted, field).iter().all(|entry| present.contains(entry))
    };
    let (names, wanted_names) = (list(rule, "resourceNames"), list(wanted, "resourceNames"));
    let has_names = names.is_empty()
        || (!wanted_names.is_empty() && wanted_names.iter().all(|name| names.contains(name)));
    has_names && ["verbs", "apiGroups", "resources", "nonResourceURLs"].into_iter().all(covers)
}

/// All objects of the seed, in the words of a vocabulary.
fn wanted(vocabulary: &Vocabulary) -> Result<Vec<Wanted>> {
    let mut all = Vec::new();
    for entry in entries(vocabulary, seed::ROLES, "roles")? {
        all.push(role(vocabulary, &entry));
        all.extend(binding(vocabulary, &entry));
    }
    for entry in entries(vocabulary, seed::CONTROLLER_ROLES, "controllers")? {
        let entry = of_controller(&entry);
        all.push(role(vocabulary, &entry));
        all.extend(binding(vocabulary, &entry));
    }
    Ok(all)
}

fn entries(vocabulary: &Vocabulary, text: &str, field: &str) -> Result<Vec<Tree>> {
    let text = vocabulary.translate(text);
    let mut seed: Tree =
        serde_json::from_str(&text).map_err(|error| ApiError::internal("the seed cannot be read", error))?;
    match seed[field].take() {
        Tree::Array(entries) => Ok(entries),
        _ => Err(ApiError::internal("the seed cannot be read", format_args!("it has no {field}"))),
    }
}

/// The entry of a controller, as one of a role.
fn of_controller(entry: &Tree) -> Tree {
    let name = text(entry, "name");
    let subjects = json!([{"serviceAccount": name}]);
    json!({"name": format!("system:controller:{name}"), "rules": entry["rules"], "boundTo": subjects})
}

fn role(vocabulary: &Vocabulary, entry: &Tree) -> Wanted {
    let namespace = text(entry, "namespace");
    let def = if namespace.is_empty() { ClusterRole::RESOURCE } else { Role::RESOURCE };
    let label = |name: &str| format!("{}/aggregate-to-{name}", group(vocabulary));
    let mut tree = object(vocabulary, def, namespace, text(entry, "name"));
    tree["rules"] = entry.get("rules").cloned().unwrap_or_default();
    if let Some(whole) = entry.get("aggregates").and_then(Tree::as_str) {
        let selector = json!({"matchLabels": {label(whole): "true"}});
        tree["aggregationRule"] = json!({"clusterRoleSelectors": [selector]});
    }
    if let Some(whole) = entry.get("aggregatedTo").and_then(Tree::as_str) {
        tree["metadata"]["labels"][label(whole)] = "true".into();
    }
    Wanted { def, namespace: namespace.to_owned(), tree }
}

fn binding(vocabulary: &Vocabulary, entry: &Tree) -> Option<Wanted> {
    let subjects = entry.get("boundTo")?.as_array()?;
    let (name, namespace) = (text(entry, "name"), text(entry, "namespace"));
    let (def, role) = if namespace.is_empty() {
        (ClusterRoleBinding::RESOURCE, ClusterRole::RESOURCE)
    } else {
        (RoleBinding::RESOURCE, Role::RESOURCE)
    };
    let own_name = entry.get("binding").and_then(Tree::as_str).unwrap_or(name);
    let mut tree = object(vocabulary, def, namespace, own_name);
    tree["roleRef"] = json!({"apiGroup": group(vocabulary), "kind": role.kind, "name": name});
    let subjects: Vec<Tree> = subjects.iter().map(|bound| subject(vocabulary, bound)).collect();
    if !subjects.is_empty() {
        tree["subjects"] = subjects.into();
    }
    Some(Wanted { def, namespace: namespace.to_owned(), tree })
}

/// `group: devs`, `user: bob`, or `serviceAccount: robot`, one of the system namespace.
fn subject(vocabulary: &Vocabulary, bound: &Tree) -> Tree {
    let group = group(vocabulary);
    if let Some(name) = bound.get("group") {
        json!({"kind": "Group", "apiGroup": group, "name": name})
    } else if let Some(name) = bound.get("user") {
        json!({"kind": "User", "apiGroup": group, "name": name})
    } else {
        let name = &bound["serviceAccount"];
        json!({"kind": "ServiceAccount", "name": name, "namespace": vocabulary.namespace_system})
    }
}

fn object(vocabulary: &Vocabulary, def: &ResourceDef, namespace: &str, name: &str) -> Tree {
    let mut tree = json!({
        "kind": def.kind,
        "apiVersion": vocabulary.api_version(def.group, def.version),
        "metadata": {
            "name": name,
            "labels": {vocabulary.label("bootstrapping"): "rbac-defaults"},
            "annotations": {annotation(vocabulary): "true"},
        },
    });
    if !namespace.is_empty() {
        tree["metadata"]["namespace"] = namespace.into();
    }
    tree
}

fn annotation(vocabulary: &Vocabulary) -> String {
    format!("rbac.authorization.{}", vocabulary.label(AUTOUPDATE))
}

fn group(vocabulary: &Vocabulary) -> String {
    vocabulary.group(ClusterRole::RESOURCE.group).into_owned()
}

fn text<'t>(tree: &'t Tree, field: &str) -> &'t str {
    tree.get(field).and_then(Tree::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture::Fixture, product::system_namespaces};

    fn role(fixture: &Fixture, name: &str) -> Tree {
        fixture.client.get(fixture.resource::<ClusterRole>(), "", name).unwrap().tree
    }

    #[tokio::test]
    async fn what_is_missing_is_put_back_and_what_was_added_stays() {
        let fixture = Fixture::new().await;
        system_namespaces::ensure(&fixture.client).await.unwrap();
        reconcile(&fixture.client).await.unwrap();
        let before = fixture.client.core().storage().current_revision();
        reconcile(&fixture.client).await.unwrap();
        assert_eq!(fixture.client.core().storage().current_revision(), before, "nothing is missing");

        let own = json!({"apiGroups": ["x"], "resources": ["y"], "verbs": ["get"]});
        fixture
            .change::<ClusterRole>(("", "system:basic-user"), "", |role| {
                role["rules"] = json!([own]);
                role["metadata"]["labels"] = json!({"own": "label"});
            })
            .await;
        fixture.change::<ClusterRole>(("", "system:discovery"), "", |role| role["rules"] = json!([])).await;
        let annotation = annotation(fixture.client.core().vocabulary());
        let keep = |role: &mut Tree| {
            role["metadata"]["annotations"][&annotation] = "false".into();
            role["rules"] = json!([]);
        };
        fixture.change::<ClusterRole>(("", "system:monitoring"), "", keep).await;
        fixture.delete::<ClusterRole>(("", "cluster-admin")).await;
        let subjects = |binding: &mut Tree| {
            binding["subjects"] = json!([{"kind": "User", "name": "bob"}]);
        };
        fixture.change::<ClusterRoleBinding>(("", "system:public-info-viewer"), "", subjects).await;

        reconcile(&fixture.client).await.unwrap();
        let basic = role(&fixture, "system:basic-user");
        assert_eq!(basic["rules"].as_array().unwrap().len(), 3);
        assert_eq!(basic["rules"][0], own);
        assert_eq!(
            basic["metadata"]["labels"],
            json!({"own": "label", "orch.io/bootstrapping": "rbac-defaults"})
        );
        assert_eq!(role(&fixture, "system:discovery")["rules"].as_array().unwrap().len(), 1);
        assert_eq!(role(&fixture, "system:monitoring")["rules"], Tree::Null);
        assert!(fixture.exists::<ClusterRole>(("", "cluster-admin")));
        let bindings = fixture.resource::<ClusterRoleBinding>();
        let binding = fixture.client.get(bindings, "", "system:public-info-viewer").unwrap().tree;
        assert_eq!(binding["subjects"].as_array().unwrap().len(), 3);
    }

    /// An operator mends it with the server that starts.
    #[tokio::test]
    async fn a_role_that_cannot_be_read_keeps_no_other_from_being_made() {
        let fixture = Fixture::new().await;
        system_namespaces::ensure(&fixture.client).await.unwrap();
        let name = fixture.resource::<ClusterRole>().storage_name.clone();
        let key = orch_storage::Key::new(name, "", "view");
        let body = orch_storage::Body::new("{".into(), 1);
        let storage = fixture.client.core().storage();
        storage.commit(orch_storage::Change::Create { key, body }).await.unwrap();
        reconcile(&fixture.client).await.unwrap();
        assert!(fixture.exists::<ClusterRoleBinding>(("", "cluster-admin")));
        role(&fixture, "edit");
        let resource = fixture.resource::<ClusterRole>();
        assert!(fixture.client.get(resource, "", "view").is_err(), "it stays as it is");
    }

    fn rule(verbs: &[&str], resources: &[&str], names: &[&str]) -> Tree {
        json!({"verbs": verbs, "apiGroups": [""], "resources": resources, "resourceNames": names})
    }

    #[test]
    fn a_rule_includes_narrower_ones() {
        let wanted = rule(&["get", "list"], &["pods"], &[]);
        for (present, included) in [
            (rule(&["list", "get", "watch"], &["pods", "nodes"], &[]), true),
            (rule(&["*"], &["*"], &[]), true),
            (rule(&["get"], &["pods"], &[]), false),
            (rule(&["get", "list"], &["pods"], &["a"]), false),
        ] {
            assert_eq!(includes_rule(&present, &wanted), included, "{present}");
        }
        let named = rule(&["get"], &["pods"], &["a"]);
        assert!(includes_rule(&rule(&["get"], &["pods"], &["a", "b"]), &named));
        assert!(!includes_rule(&rule(&["get"], &["pods"], &["b"]), &named));
    }

    /// No name is left in the words of the schema.
    #[test]
    fn the_seed_is_told_in_the_words_of_each_vocabulary() {
        for vocabulary in orch_api::VOCABULARIES {
            let all = wanted(vocabulary).unwrap();
            assert!(all.len() > 100, "{}", all.len());
            for Wanted { tree, .. } in &all {
                let is_foreign = vocabulary.name != "orch" && tree.to_string().contains("orch");
                assert!(!is_foreign, "{}: {tree}", vocabulary.name);
            }
        }
    }
}
