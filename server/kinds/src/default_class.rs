//! The default class: that of claims which name none. Operators mark it by an annotation.

use orch_api::storage::v1::StorageClass;
use orch_registry::{catalog::ServedResource, objects::Objects, stored};
use orch_runtime::{object::Kind, vocabulary::Vocabulary};
use orch_storage::Object;

/// When a class was made that is marked as the default, and its name; remembered with each state of a class.
struct Marked(Option<(String, String)>);

/// Of several classes that are marked as default, the youngest one, and the first one by name among these.
pub fn name(objects: &Objects) -> Option<String> {
    // A server without the kind has no classes.
    let classes = objects.catalog().served(StorageClass::RESOURCE)?;
    let snapshot = objects.snapshot(classes);
    let mut youngest: Option<&(String, String)> = None;
    for object in snapshot.iter() {
        let marked = mark(classes, object);
        if let Some((made, name)) = marked
            && youngest.is_none_or(|(other, first)| made > other || made == other && name < first)
        {
            youngest = marked;
        }
    }
    youngest.map(|(_, name)| name.clone())
}

/// Whether a class is marked as default.
pub fn is_marked(classes: &ServedResource, object: &Object) -> bool {
    mark(classes, object).is_some()
}

fn mark<'o>(classes: &ServedResource, object: &'o Object) -> Option<&'o (String, String)> {
    object.memo::<Marked>(|object| Marked(marked(classes, object))).0.as_ref()
}

fn marked(classes: &ServedResource, object: &Object) -> Option<(String, String)> {
    let tree = stored::tree_of(classes, object).ok()?;
    let metadata = &tree["metadata"];
    let is_marked = marks(classes.vocabulary).iter().any(|key| metadata["annotations"][key] == "true");
    let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
    is_marked.then(|| (text("creationTimestamp"), text("name")))
}

/// The annotations that mark the default class.
fn marks(vocabulary: &Vocabulary) -> [String; 2] {
    let domain = vocabulary.label_domain;
    ["", "beta."].map(|stage| format!("storageclass.{stage}{domain}/is-default-class"))
}
