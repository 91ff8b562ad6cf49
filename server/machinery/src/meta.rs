//! A typed view over the names and metadata of an object's tree. Nothing here panics or fails on an odd tree:
//! what is not of the right type reads as absent, and writing puts the right type in its place.

use orch_runtime::{Tree, TreeMap};

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
        self.text("name")
    }

    /// `metadata.generateName`.
    pub fn generate_name(self) -> &'t str {
        self.text("generateName")
    }

    /// `metadata.namespace`.
    pub fn namespace(self) -> &'t str {
        self.text("namespace")
    }

    /// `metadata.uid`.
    pub fn uid(self) -> &'t str {
        self.text("uid")
    }

    /// `metadata.resourceVersion`.
    pub fn resource_version(self) -> &'t str {
        self.text("resourceVersion")
    }

    /// `metadata.generation`; 0 where the kind does not count.
    pub fn generation(self) -> i64 {
        self.get("generation").and_then(Tree::as_i64).unwrap_or(0)
    }

    /// `metadata.creationTimestamp`, in its text form.
    pub fn creation_timestamp(self) -> Option<&'t str> {
        self.get("creationTimestamp").and_then(Tree::as_str)
    }

    /// `metadata.deletionTimestamp`, in its text form: the object is being deleted.
    pub fn deletion_timestamp(self) -> Option<&'t str> {
        self.get("deletionTimestamp").and_then(Tree::as_str)
    }

    /// `metadata.deletionGracePeriodSeconds`.
    pub fn deletion_grace_period_seconds(self) -> Option<i64> {
        self.get("deletionGracePeriodSeconds").and_then(Tree::as_i64)
    }

    /// The labels, in key order.
    pub fn labels(self) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.texts("labels")
    }

    /// The value of one label.
    pub fn label(self, key: &str) -> Option<&'t str> {
        self.get("labels")?.get(key)?.as_str()
    }

    /// The annotations, in key order.
    pub fn annotations(self) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.texts("annotations")
    }

    /// The value of one annotation.
    pub fn annotation(self, key: &str) -> Option<&'t str> {
        self.get("annotations")?.get(key)?.as_str()
    }

    /// The finalizers, in order.
    pub fn finalizers(self) -> impl Iterator<Item = &'t str> {
        self.list("finalizers").iter().filter_map(Tree::as_str)
    }

    /// `metadata.ownerReferences`, as they are.
    pub fn owner_references(self) -> &'t [Tree] {
        self.list("ownerReferences")
    }

    /// `metadata.managedFields`, as they are.
    pub fn managed_fields(self) -> &'t [Tree] {
        self.list("managedFields")
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
            let rest = metadata.iter().filter(|(name, _)| *name != "managedFields");
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
    /// The metadata of a top-level object, made where it is absent.
    pub fn of(tree: &'t mut Tree) -> Self {
        MetaMut(metadata_mut(tree))
    }

    /// Sets `metadata.name`.
    pub fn set_name(&mut self, name: &str) {
        self.set_text("name", name);
    }

    /// Sets `metadata.generateName`.
    pub fn set_generate_name(&mut self, prefix: &str) {
        self.set_text("generateName", prefix);
    }

    /// Sets `metadata.namespace`.
    pub fn set_namespace(&mut self, namespace: &str) {
        self.set_text("namespace", namespace);
    }

    /// Sets `metadata.uid`.
    pub fn set_uid(&mut self, uid: &str) {
        self.set_text("uid", uid);
    }

    /// Sets `metadata.resourceVersion`.
    pub fn set_resource_version(&mut self, version: &str) {
        self.set_text("resourceVersion", version);
    }

    /// Sets `metadata.generation`; 0 removes it.
    pub fn set_generation(&mut self, generation: i64) {
        self.set("generation", (generation != 0).then(|| generation.into()));
    }

    /// Sets `metadata.creationTimestamp`, RFC 3339 in UTC.
    pub fn set_creation_timestamp(&mut self, time: &str) {
        self.set_text("creationTimestamp", time);
    }

    /// Sets `metadata.deletionTimestamp`, RFC 3339 in UTC, and the grace period in seconds.
    pub fn set_deletion(&mut self, time: &str, grace_seconds: i64) {
        self.set_text("deletionTimestamp", time);
        self.set("deletionGracePeriodSeconds", Some(grace_seconds.into()));
    }

    /// Sets one label.
    pub fn set_label(&mut self, key: &str, value: &str) {
        self.map("labels").insert(key.to_owned(), value.into());
    }

    /// Removes one label.
    pub fn remove_label(&mut self, key: &str) {
        self.remove_entry("labels", key);
    }

    /// Sets one annotation.
    pub fn set_annotation(&mut self, key: &str, value: &str) {
        self.map("annotations").insert(key.to_owned(), value.into());
    }

    /// Removes one annotation.
    pub fn remove_annotation(&mut self, key: &str) {
        self.remove_entry("annotations", key);
    }

    /// Replaces the finalizers.
    pub fn set_finalizers<I>(&mut self, finalizers: I)
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let list: Vec<Tree> = finalizers.into_iter().map(|name| Tree::String(name.into())).collect();
        self.set("finalizers", (!list.is_empty()).then_some(Tree::Array(list)));
    }

    /// Adds a finalizer at the end, unless it is there.
    pub fn add_finalizer(&mut self, name: &str) {
        let mut names = self.finalizers();
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
            self.set_finalizers(names);
        }
    }

    /// Removes a finalizer; says whether it was there.
    pub fn remove_finalizer(&mut self, name: &str) -> bool {
        let names = self.finalizers();
        let kept: Vec<String> = names.iter().filter(|known| *known != name).cloned().collect();
        let removed = kept.len() < names.len();
        if removed {
            self.set_finalizers(kept);
        }
        removed
    }

    /// Sets any field of the metadata, or removes it.
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

    fn set_text(&mut self, field: &str, text: &str) {
        self.set(field, (!text.is_empty()).then(|| text.into()));
    }

    fn finalizers(&self) -> Vec<String> {
        Meta(Some(self.0)).finalizers().map(str::to_owned).collect()
    }

    fn map(&mut self, field: &str) -> &mut TreeMap {
        object_in(self.0.entry(field).or_insert(Tree::Null))
    }

    fn remove_entry(&mut self, field: &str, key: &str) {
        let Some(Tree::Object(map)) = self.0.get_mut(field) else { return };
        map.remove(key);
        if map.is_empty() {
            self.0.remove(field);
        }
    }
}

/// The metadata of a top-level object, made where it is absent. A tree that is not an object becomes one.
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

/// The object in a place; whatever else is there is replaced by an empty one.
fn object_in(place: &mut Tree) -> &mut TreeMap {
    if !place.is_object() {
        *place = Tree::Object(TreeMap::new());
    }
    place.as_object_mut().expect("made an object just above")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_what_is_there() {
        let tree = json!({"metadata": {
            "name": "a", "namespace": "n", "generation": 3, "labels": {"x": "1", "odd": 2}, "finalizers": ["f", 1],
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        }});
        let meta = Meta::of(&tree);
        assert_eq!((meta.name(), meta.namespace(), meta.uid(), meta.generation()), ("a", "n", "", 3));
        assert_eq!(meta.labels().collect::<Vec<_>>(), [("x", "1")]);
        assert_eq!((meta.label("x"), meta.label("y")), (Some("1"), None));
        assert_eq!(meta.finalizers().collect::<Vec<_>>(), ["f"]);
        assert!(meta.deletion_timestamp().is_some());
    }

    #[test]
    fn odd_trees_read_as_empty_and_are_mended_by_writing() {
        for odd in
            [json!(null), json!([]), json!("x"), json!({"metadata": 1}), json!({"metadata": {"labels": []}})]
        {
            assert_eq!(Meta::of(&odd).name(), "");
            assert_eq!(Meta::of(&odd).labels().count(), 0);
            let mut mended = odd.clone();
            MetaMut::of(&mut mended).set_label("k", "v");
            assert_eq!(Meta::of(&mended).label("k"), Some("v"), "{odd}");
        }
    }

    #[test]
    fn empty_values_are_removed() {
        let mut tree = json!({"metadata": {"uid": "u", "labels": {"k": "v"}, "finalizers": ["a", "b"]}});
        let mut meta = MetaMut::of(&mut tree);
        meta.set_uid("");
        meta.remove_label("k");
        assert!(meta.remove_finalizer("a"));
        assert!(!meta.remove_finalizer("a"));
        meta.add_finalizer("c");
        meta.add_finalizer("b");
        assert_eq!(tree, json!({"metadata": {"finalizers": ["b", "c"]}}));
        assert!(MetaMut::of(&mut tree).remove_finalizer("b"));
        assert!(MetaMut::of(&mut tree).remove_finalizer("c"));
        assert_eq!(tree, json!({"metadata": {}}));
    }
}
