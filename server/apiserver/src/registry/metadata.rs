//! The part of an object's metadata that the server owns, on create and on update, and the rules for names.

use orch_api::{meta::v1::ObjectMeta, validators::object_meta_update};
use orch_machinery::meta::{self, Meta};
use orch_runtime::{
    Tree, constraint,
    field_error::{FieldError, Shown as _, Validation},
    path::Path,
    resource_def::{NameFormat, ResourceDef, Scope},
    scalar::Time,
};
use rand::RngExt;

use crate::{
    error::{ApiError, Result},
    request_info::Target,
};

/// The symbols of generated name suffixes: no vowels, and no digits that look like letters.
const SUFFIX_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;
/// A generated name is at most this long before its suffix.
const MAX_BASE_LENGTH: usize = 58;

/// Fields that the server alone writes; whatever a client sends in them on create is dropped.
const SERVER_OWNED: &[&str] = &[
    "selfLink",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "resourceVersion",
];

/// Fields that an update takes over from the stored object, whatever the client sends.
const KEPT_ON_UPDATE: &[&str] = &["creationTimestamp", "generation"];

/// Fields that an update takes over where the client leaves them out; changing them is against the rules.
const FILLED_ON_UPDATE: &[&str] = &["uid", "deletionGracePeriodSeconds"];

/// Whether the times that a client sends are times. The server sets these fields itself, so that nobody else reads them.
///
/// # Errors
/// Why one is none.
pub fn check_times(tree: &Tree) -> Result<(), String> {
    let metadata = Meta::of(tree);
    let own = ["creationTimestamp", "deletionTimestamp"].map(|name| metadata.get(name));
    let entries = metadata.managed_fields().iter().map(|entry| entry.get("time"));
    for text in own.into_iter().chain(entries).flatten().filter_map(Tree::as_str) {
        text.parse::<Time>().map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Puts the object into the namespace of the URL.
///
/// # Errors
/// 400 where the body names another one. A namespace on a cluster-scoped kind is dropped.
pub fn place(target: &Target<'_>, tree: &mut Tree) -> Result<()> {
    match target.resource.def.scope {
        Scope::Cluster => {
            meta::metadata_mut(tree).remove("namespace");
        }
        Scope::Namespaced => {
            let given = Meta::of(tree).namespace();
            if !given.is_empty() && given != target.namespace {
                return Err(ApiError::BadRequest(
                    "the namespace of the provided object does not match the namespace sent on the request"
                        .to_owned(),
                ));
            }
            meta::metadata_mut(tree).insert("namespace".to_owned(), target.namespace.as_ref().into());
        }
    }
    Ok(())
}

/// Checks the name in a body against the name in the URL.
///
/// # Errors
/// 400 where it is absent or another one.
pub fn check_name(target: &Target<'_>, tree: &Tree) -> Result<()> {
    let name = Meta::of(tree).name();
    let url = target.name.as_ref();
    if name.is_empty() {
        let message =
            format!("the name of the object ({url} based on URL) was undeterminable: name must be provided");
        return Err(ApiError::BadRequest(message));
    }
    if name != url {
        let message = format!("the name of the object ({name}) does not match the name on the URL ({url})");
        return Err(ApiError::BadRequest(message));
    }
    Ok(())
}

/// Gives a new object its identity: uid, creation time, first generation, and a name where one is to be generated.
/// Returns whether the name was generated.
pub fn begin(def: &ResourceDef, tree: &mut Tree, now: Time) -> bool {
    let base = Meta::of(tree).generate_name().to_owned();
    let generated = Meta::of(tree).name().is_empty() && !base.is_empty();
    let metadata = meta::metadata_mut(tree);
    for field in SERVER_OWNED {
        metadata.remove(*field);
    }
    metadata.insert("uid".to_owned(), uuid::Uuid::new_v4().to_string().into());
    metadata.insert("creationTimestamp".to_owned(), now.to_string().into());
    if def.counts_generation {
        metadata.insert("generation".to_owned(), 1.into());
    }
    if generated {
        metadata.insert("name".to_owned(), generated_name(&base).into());
    }
    generated
}

/// The version that a client relies on; none and zero are 0.
///
/// # Errors
/// 500 without a reason, as clients know it, for what is no number.
pub fn given_version(tree: &Tree) -> Result<u64> {
    let version = Meta::of(tree).resource_version();
    if version.is_empty() {
        return Ok(0);
    }
    version.parse().map_err(|_| {
        ApiError::Unclassified(format!("strconv.ParseUint: parsing {}: invalid syntax", version.shown()))
    })
}

/// Takes over from the stored object what an update cannot change. Takes out what the client gave as managed fields, which
/// have rules of their own.
pub fn carry_over(current: &Tree, proposed: &mut Tree) -> Option<Tree> {
    let old = Meta::of(current);
    let new = meta::metadata_mut(proposed);
    new.remove("selfLink");
    let managed_fields = new.remove("managedFields");
    for field in FILLED_ON_UPDATE {
        if let (None, Some(value)) = (new.get(*field), old.get(field)) {
            new.insert((*field).to_owned(), value.clone());
        }
    }
    // When an object goes can be said once, and only by deleting it.
    if let Some(value) = old.get("deletionTimestamp") {
        new.insert("deletionTimestamp".to_owned(), value.clone());
    }
    for field in KEPT_ON_UPDATE {
        match old.get(field) {
            Some(value) => new.insert((*field).to_owned(), value.clone()),
            None => new.remove(*field),
        };
    }
    new.insert("resourceVersion".to_owned(), old.resource_version().into());
    managed_fields
}

/// Counts a change of what an object says besides its metadata and status. Both trees have their defaults: what a client
/// leaves to them is no change.
pub fn count_generation(def: &ResourceDef, current: &Tree, new: &mut Tree) {
    if def.counts_generation && differs_in_substance(current, new) {
        let next = Meta::of(current).generation() + 1;
        meta::metadata_mut(new).insert("generation".to_owned(), next.into());
    }
}

/// Marks an object as being deleted: when it goes, which is `grace` seconds from now, and one more generation where
/// generations are counted.
pub fn mark_deleted(tree: &mut Tree, now: Time, grace: i64) {
    let ends = Time::from_unix_seconds(now.as_unix_seconds().saturating_add(grace));
    let metadata = meta::metadata_mut(tree);
    metadata.insert("deletionTimestamp".to_owned(), ends.to_string().into());
    metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
    if let Some(generation) = metadata.get("generation").and_then(Tree::as_i64).filter(|count| *count > 0) {
        metadata.insert("generation".to_owned(), (generation + 1).into());
    }
}

/// Reports what is wrong with the name of a new object.
pub fn validate_name(def: &ResourceDef, tree: &Tree, cx: &mut Validation<'_>) {
    let path = Path::ROOT.field("metadata");
    let (name, base) = (Meta::of(tree).name(), Meta::of(tree).generate_name());
    if !base.is_empty() {
        let rule = match def.name_format {
            NameFormat::DnsSubdomain => constraint::dns_subdomain_prefix,
            NameFormat::DnsLabel => constraint::dns_label_prefix,
            NameFormat::Dns1035Label => constraint::dns_1035_label_prefix,
            NameFormat::PathSegment => constraint::path_segment_prefix,
        };
        cx.invalid_all(&path.field("generateName"), base, &rule(base));
    }
    let path = path.field("name");
    if name.is_empty() {
        cx.push(FieldError::required(&path, "name or generateName is required"));
        return;
    }
    let rule = match def.name_format {
        NameFormat::DnsSubdomain => constraint::dns_subdomain,
        NameFormat::DnsLabel => constraint::dns_label,
        NameFormat::Dns1035Label => constraint::dns_1035_label,
        NameFormat::PathSegment => constraint::path_segment,
    };
    cx.invalid_all(&path, name, &rule(name));
}

/// Reports what an update changes in metadata against the rules: once for all kinds and once as a part of the kind's own
/// rules, because existing clients get each cause twice.
///
/// # Errors
/// 400 where the metadata is none.
pub fn validate_update(current: &Tree, proposed: &Tree, cx: &mut Validation<'_>) -> Result<()> {
    let read = |tree: &Tree| {
        // Neither is about who owns what, which is often the larger part.
        let fields = tree.get("metadata").and_then(Tree::as_object).into_iter().flatten();
        let fields = fields.filter(|(name, _)| *name != "managedFields");
        let metadata: Tree = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
        serde_json::from_value::<ObjectMeta>(metadata)
            .map_err(|error| ApiError::BadRequest(format!("the metadata cannot be read: {error}")))
    };
    let (new, old) = (read(proposed)?, read(current)?);
    for _ in 0..2 {
        object_meta_update(&new, &old, &Path::ROOT.field("metadata"), cx);
    }
    Ok(())
}

/// Whether anything but metadata and status differs.
fn differs_in_substance(current: &Tree, new: &Tree) -> bool {
    const BESIDES: [&str; 4] = ["metadata", "status", "kind", "apiVersion"];
    let fields = |tree: &Tree| {
        let fields = tree.as_object().into_iter().flatten();
        fields
            .map(|(name, _)| name.clone())
            .filter(|name| !BESIDES.contains(&name.as_str()))
            .collect::<Vec<_>>()
    };
    let mut names = fields(current).into_iter().chain(fields(new));
    names.any(|name| !is_same(current.get(&name), new.get(&name)))
}

/// Whether two values are the same; null is absent.
fn is_same(one: Option<&Tree>, other: Option<&Tree>) -> bool {
    match (one.filter(|value| !value.is_null()), other.filter(|value| !value.is_null())) {
        (Some(Tree::Object(one)), Some(Tree::Object(other))) => {
            one.keys().chain(other.keys()).all(|name| is_same(one.get(name), other.get(name)))
        }
        (Some(Tree::Array(one)), Some(Tree::Array(other))) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(Some(one), Some(other)))
        }
        (one, other) => one == other,
    }
}

fn generated_name(base: &str) -> String {
    let mut cut = base.len().min(MAX_BASE_LENGTH);
    while !base.is_char_boundary(cut) {
        cut -= 1;
    }
    let mut rng = rand::rng();
    let suffix =
        (0..SUFFIX_LENGTH).map(|_| char::from(SUFFIX_ALPHABET[rng.random_range(0..SUFFIX_ALPHABET.len())]));
    base[..cut].chars().chain(suffix).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_BASE_LENGTH, differs_in_substance, generated_name};

    #[test]
    fn metadata_status_and_nulls_are_no_substance() {
        let old = json!({"kind": "K", "metadata": {"uid": "1"}, "spec": {"a": [{"b": 1, "c": null}]}, "status": {}});
        for (new, expected) in [
            (json!({"metadata": {}, "spec": {"a": [{"b": 1}]}, "status": {"x": 1}}), false),
            (json!({"spec": {"a": [{"b": 1}], "d": null}}), false),
            (json!({"spec": {"a": [{"b": 2}]}}), true),
            (json!({"spec": {"a": []}}), true),
            (json!({"spec": {"a": [{"b": 1}]}, "more": 1}), true),
            (json!({}), true),
        ] {
            assert_eq!(differs_in_substance(&old, &new), expected, "{new}");
        }
    }

    #[test]
    fn generated_names_fit_and_differ() {
        let long = "a".repeat(100);
        assert_eq!(generated_name(&long).len(), MAX_BASE_LENGTH + 5);
        assert!(generated_name("web-").starts_with("web-"));
        assert_eq!(generated_name("web-").len(), 9);
        assert!(generated_name(&"é".repeat(40)).chars().count() <= MAX_BASE_LENGTH);
        assert_ne!(generated_name("x"), generated_name("x"));
    }
}
