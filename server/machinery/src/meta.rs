//! Typed access to `kind`, `apiVersion` and `metadata` of an object's tree. No function here panics or fails
//! on a malformed tree: a value of the wrong type reads as absent, and writing replaces it.

use orch_runtime::{Tree, TreeMap, scalar::Time};

/// The names of the fields of `metadata`.
pub mod field {
    /// `metadata.name`.
    pub const NAME: &str = "name";
    /// `metadata.generateName`.
    pub const GENERATE_NAME: &str = "generateName";
    /// `metadata.namespace`.
    pub const NAMESPACE: &str = "namespace";
    /// `metadata.uid`.
    pub const UID: &str = "uid";
    /// `metadata.resourceVersion`.
    pub const RESOURCE_VERSION: &str = "resourceVersion";
    /// `metadata.generation`.
    pub const GENERATION: &str = "generation";
    /// `metadata.creationTimestamp`.
    pub const CREATION_TIMESTAMP: &str = "creationTimestamp";
    /// `metadata.deletionTimestamp`.
    pub const DELETION_TIMESTAMP: &str = "deletionTimestamp";
    /// `metadata.deletionGracePeriodSeconds`.
    pub const DELETION_GRACE_PERIOD_SECONDS: &str = "deletionGracePeriodSeconds";
    /// `metadata.annotations`.
    pub const ANNOTATIONS: &str = "annotations";
    /// `metadata.finalizers`.
    pub const FINALIZERS: &str = "finalizers";
    /// `metadata.ownerReferences`.
    pub const OWNER_REFERENCES: &str = "ownerReferences";
    /// `metadata.managedFields`.
    pub const MANAGED_FIELDS: &str = "managedFields";
    /// `metadata.selfLink`.
    pub const SELF_LINK: &str = "selfLink";
}

/// The `metadata` of an object, for reading. Absent strings read as empty.
#[derive(Clone, Copy, Debug)]
pub struct Meta<'t>(Option<&'t TreeMap>);

impl<'t> Meta<'t> {
    /// The metadata of a top-level object.
    pub fn of(tree: &'t Tree) -> Self {
        Meta(tree.get("metadata").and_then(Tree::as_object))
    }

    /// `metadata.name`.
    pub fn name(self) -> &'t str {
        self.text(field::NAME)
    }

    /// `metadata.generateName`.
    pub fn generate_name(self) -> &'t str {
        self.text(field::GENERATE_NAME)
    }

    /// `metadata.namespace`.
    pub fn namespace(self) -> &'t str {
        self.text(field::NAMESPACE)
    }

    /// `metadata.uid`.
    pub fn uid(self) -> &'t str {
        self.text(field::UID)
    }

    /// `metadata.resourceVersion`.
    pub fn resource_version(self) -> &'t str {
        self.text(field::RESOURCE_VERSION)
    }

    /// `metadata.generation`; 0 where the kind does not count.
    pub fn generation(self) -> i64 {
        self.get(field::GENERATION).and_then(Tree::as_i64).unwrap_or(0)
    }

    /// `metadata.deletionTimestamp`, in its text form: the object is being deleted.
    pub fn deletion_timestamp(self) -> Option<&'t str> {
        self.get(field::DELETION_TIMESTAMP).and_then(Tree::as_str)
    }

    /// `metadata.deletionGracePeriodSeconds`.
    pub fn deletion_grace_period_seconds(self) -> Option<i64> {
        self.get(field::DELETION_GRACE_PERIOD_SECONDS).and_then(Tree::as_i64)
    }

    /// The annotations, in key order.
    pub fn annotations(self) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.texts(field::ANNOTATIONS)
    }

    /// The value of one annotation.
    pub fn annotation(self, key: &str) -> Option<&'t str> {
        self.get(field::ANNOTATIONS)?.get(key)?.as_str()
    }

    /// The finalizers, in order.
    pub fn finalizers(self) -> impl Iterator<Item = &'t str> {
        self.list(field::FINALIZERS).iter().filter_map(Tree::as_str)
    }

    /// `metadata.ownerReferences`, as they are.
    pub fn owner_references(self) -> &'t [Tree] {
        self.list(field::OWNER_REFERENCES)
    }

    /// `metadata.managedFields`, as they are.
    pub fn managed_fields(self) -> &'t [Tree] {
        self.list(field::MANAGED_FIELDS)
    }

    /// Any field of the metadata.
    pub fn get(self, name: &str) -> Option<&'t Tree> {
        self.0?.get(name)
    }

    fn text(self, name: &str) -> &'t str {
        self.get(name).and_then(Tree::as_str).unwrap_or_default()
    }

    fn list(self, name: &str) -> &'t [Tree] {
        self.get(name).and_then(Tree::as_array).map_or(&[], Vec::as_slice)
    }

    fn texts(self, name: &str) -> impl Iterator<Item = (&'t str, &'t str)> {
        let map = self.get(name).and_then(Tree::as_object);
        map.into_iter().flatten().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
    }
}

/// A copy of an object without `metadata.managedFields`, which can be as large as the rest.
pub fn without_managed_fields(tree: &Tree) -> Tree {
    let Tree::Object(fields) = tree else { return tree.clone() };
    let copied = fields.iter().map(|(name, value)| match value {
        Tree::Object(metadata) if name == "metadata" => {
            let rest = metadata.iter().filter(|(name, _)| name.as_str() != field::MANAGED_FIELDS);
            let rest: TreeMap = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
            (name.clone(), Tree::Object(rest))
        }
        _ => (name.clone(), value.clone()),
    });
    Tree::Object(copied.collect())
}

/// The `metadata` of an object, for writing. Empty values are removed instead of being written.
#[derive(Debug)]
pub struct MetaMut<'t>(&'t mut TreeMap);

impl<'t> MetaMut<'t> {
    /// The metadata of a top-level object; it is added where the object has none.
    pub fn of(tree: &'t mut Tree) -> Self {
        MetaMut(metadata_mut(tree))
    }

    /// The same metadata, for reading.
    pub fn read(&self) -> Meta<'_> {
        Meta(Some(self.0))
    }

    /// Sets `metadata.name`.
    pub fn set_name(&mut self, name: &str) {
        self.set_text(field::NAME, name);
    }

    /// Sets `metadata.namespace`.
    pub fn set_namespace(&mut self, namespace: &str) {
        self.set_text(field::NAMESPACE, namespace);
    }

    /// Sets `metadata.uid`.
    pub fn set_uid(&mut self, uid: &str) {
        self.set_text(field::UID, uid);
    }

    /// Sets `metadata.resourceVersion`.
    pub fn set_resource_version(&mut self, version: &str) {
        self.set_text(field::RESOURCE_VERSION, version);
    }

    /// Sets `metadata.generation`; 0 removes it.
    pub fn set_generation(&mut self, generation: i64) {
        self.set(field::GENERATION, (generation != 0).then(|| generation.into()));
    }

    /// Sets `metadata.creationTimestamp`.
    pub fn set_creation_timestamp(&mut self, time: Time) {
        self.set_text(field::CREATION_TIMESTAMP, &time.to_string());
    }

    /// Sets `metadata.deletionTimestamp`, which is when the grace period ends, and the grace period in
    /// seconds.
    pub fn set_deletion(&mut self, ends: Time, grace_seconds: i64) {
        self.set_text(field::DELETION_TIMESTAMP, &ends.to_string());
        self.set(field::DELETION_GRACE_PERIOD_SECONDS, Some(grace_seconds.into()));
    }

    /// Sets `metadata.finalizers`.
    pub fn set_finalizers(&mut self, names: Vec<String>) {
        self.set_list(field::FINALIZERS, names.into_iter().map(Tree::String).collect());
    }

    /// Removes one of `metadata.finalizers`, if it is there.
    pub fn remove_finalizer(&mut self, name: &str) {
        let others = self.read().finalizers().filter(|known| *known != name).map(str::to_owned).collect();
        self.set_finalizers(others);
    }

    /// Sets `metadata.ownerReferences`.
    pub fn set_owner_references(&mut self, references: Vec<Tree>) {
        self.set_list(field::OWNER_REFERENCES, references);
    }

    /// Sets `metadata.managedFields`.
    pub fn set_managed_fields(&mut self, entries: Vec<Tree>) {
        self.set_list(field::MANAGED_FIELDS, entries);
    }

    /// Sets any field of the metadata to any value, or removes it.
    pub fn set(&mut self, field: &str, value: Option<Tree>) {
        match value {
            Some(value) => {
                self.0.insert(field.to_owned(), value);
            }
            None => {
                self.0.remove(field);
            }
        }
    }

    /// Removes any field of the metadata and returns it.
    pub fn remove(&mut self, field: &str) -> Option<Tree> {
        self.0.remove(field)
    }

    fn set_text(&mut self, field: &str, text: &str) {
        self.set(field, (!text.is_empty()).then(|| text.into()));
    }

    fn set_list(&mut self, field: &str, items: Vec<Tree>) {
        self.set(field, (!items.is_empty()).then_some(Tree::Array(items)));
    }
}

/// The metadata of a top-level object; it is added where the object has none. A tree that is not an object
/// becomes one.
pub fn metadata_mut(tree: &mut Tree) -> &mut TreeMap {
    object_in(object_in(tree).entry("metadata").or_insert(Tree::Null))
}

/// `apiVersion` of a top-level object; empty when absent.
pub fn api_version(tree: &Tree) -> &str {
    tree.get("apiVersion").and_then(Tree::as_str).unwrap_or_default()
}

/// `kind` of a top-level object; empty when absent.
pub fn kind(tree: &Tree) -> &str {
    tree.get("kind").and_then(Tree::as_str).unwrap_or_default()
}

/// Sets `kind` and `apiVersion` of a top-level object.
pub fn set_type(tree: &mut Tree, kind: &str, api_version: &str) {
    let object = object_in(tree);
    object.insert("kind".to_owned(), kind.into());
    object.insert("apiVersion".to_owned(), api_version.into());
}

/// The object that a value is; any other value is replaced by an empty object.
fn object_in(value: &mut Tree) -> &mut TreeMap {
    if !value.is_object() {
        *value = Tree::Object(TreeMap::new());
    }
    value.as_object_mut().expect("it was made an object just above")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_what_is_there() {
        let tree = json!({"metadata": {
            "name": "a", "namespace": "n", "generation": 3, "annotations": {"x": "1", "y": 2},
            "finalizers": ["f", 1],
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        }});
        let meta = Meta::of(&tree);
        assert_eq!((meta.name(), meta.namespace(), meta.uid(), meta.generation()), ("a", "n", "", 3));
        assert_eq!(meta.annotations().collect::<Vec<_>>(), [("x", "1")]);
        assert_eq!((meta.annotation("x"), meta.annotation("y")), (Some("1"), None));
        assert_eq!(meta.finalizers().collect::<Vec<_>>(), ["f"]);
        assert!(meta.deletion_timestamp().is_some());
    }

    #[test]
    fn malformed_trees_read_as_empty_and_are_replaced_by_writing() {
        for malformed in
            [json!(null), json!([]), json!("x"), json!({"metadata": 1}), json!({"metadata": {"name": []}})]
        {
            assert_eq!(Meta::of(&malformed).name(), "");
            assert_eq!(Meta::of(&malformed).finalizers().count(), 0);
            let mut written = malformed.clone();
            MetaMut::of(&mut written).set_name("a");
            assert_eq!(Meta::of(&written).name(), "a", "{malformed}");
        }
    }

    #[test]
    fn every_setter_writes_its_field() {
        let mut tree = json!({"metadata": {"finalizers": ["a", "b"], "labels": {"k": "v"}}});
        let mut meta = MetaMut::of(&mut tree);
        meta.set_name("n");
        meta.set_namespace("s");
        meta.set_uid("u");
        meta.set_resource_version("7");
        meta.set_generation(2);
        meta.set_creation_timestamp(Time::from_unix_seconds(0));
        meta.set_deletion(Time::from_unix_seconds(60), 30);
        meta.remove_finalizer("a");
        meta.remove_finalizer("c");
        meta.set_owner_references(vec![json!({"uid": "o"})]);
        meta.set_managed_fields(vec![json!({"manager": "m"})]);
        assert_eq!(meta.remove("labels"), Some(json!({"k": "v"})));
        assert_eq!(meta.read().generation(), 2);
        let expected = json!({"metadata": {
            "name": "n", "namespace": "s", "uid": "u", "resourceVersion": "7", "generation": 2,
            "creationTimestamp": "1970-01-01T00:00:00Z", "deletionTimestamp": "1970-01-01T00:01:00Z",
            "deletionGracePeriodSeconds": 30, "finalizers": ["b"], "ownerReferences": [{"uid": "o"}],
            "managedFields": [{"manager": "m"}],
        }});
        assert_eq!(tree, expected);
    }

    #[test]
    fn empty_values_are_removed() {
        let mut tree = json!({"metadata": {
            "uid": "u", "generation": 1, "finalizers": ["a"], "managedFields": [{}], "labels": {},
        }});
        let mut meta = MetaMut::of(&mut tree);
        meta.set_uid("");
        meta.set_generation(0);
        meta.remove_finalizer("a");
        meta.set_managed_fields(Vec::new());
        meta.set("labels", None);
        assert_eq!(tree, json!({"metadata": {}}));
    }
}
