//! Objects that an older build stored without the nulls that are written by now
//! ([`FieldDef::null_when_absent`](orch_runtime::type_def::FieldDef)).
//!
//! Reads send stored bytes, and to look into them would cost each list. So what is there at the start is
//! looked through once. The few objects that lack something get their whole form, which is kept with them
//! until they are written again: by any write, also one that changes nothing, or by a migration. Over a
//! shared store, what a server of an older build writes later is sent as it is.

use std::{ptr, sync::atomic::Ordering};

use bytes::Bytes;
use orch_machinery::json::encode::encode;
use orch_runtime::type_def::{Shape, TypeDef};
use orch_storage::{Object, Storage};

use super::{is_in_form, mentions, tree_of_bytes};
use crate::catalog::{Catalog, ServedResource};

/// The whole form of a state that is stored without a part.
struct Completed(Bytes);

/// Completes what is stored. Who reads before sees objects as they are stored.
pub fn complete(catalog: &Catalog, storage: &Storage) {
    for resource in catalog.stored_resources() {
        let places = places(resource.def.type_def);
        if places.is_empty() {
            continue;
        }
        for object in storage.snapshot(&resource.storage_name).iter() {
            if let Some(whole) = whole_of(resource, object, &places) {
                object.memo_grows(whole.len());
                object.memo(|_| Completed(whole));
                resource.has_incomplete.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// The whole form of an object that is stored without a part.
pub(super) fn bytes_of<'o>(resource: &ServedResource, object: &'o Object) -> Option<&'o Bytes> {
    // Mostly there is none, and the object itself need not be asked.
    if !resource.has_incomplete.load(Ordering::Relaxed) {
        return None;
    }
    object.known().map(|Completed(whole)| whole)
}

/// The same, made anew; `None` where nothing is missing, or where it cannot be read.
fn whole_of(resource: &ServedResource, object: &Object, places: &[Vec<&str>]) -> Option<Bytes> {
    let stored = object.value().ok().filter(|stored| is_in_form(resource, stored))?;
    // The last names of a place are the rarest.
    let may_be_there = |place: &Vec<&str>| place.iter().rev().all(|name| mentions(stored, name));
    if !places.iter().any(may_be_there) {
        return None;
    }
    let tree = tree_of_bytes(resource.def, stored).ok()?;
    let mut whole = Vec::with_capacity(stored.len() + 64);
    encode(&tree, resource.def.type_def, &mut whole);
    whole.push(b'\n');
    (whole != **stored).then(|| whole.into())
}

/// The places below the top of objects with fields that are null where they are absent: the server sets those
/// at the top.
fn places(def: &'static TypeDef) -> Vec<Vec<&'static str>> {
    let mut found = Vec::new();
    for field in def.fields.iter().filter(|field| field.name != "metadata") {
        below(&field.shape, &mut vec![field.name], &mut vec![def], &mut found);
    }
    found
}

fn below(
    shape: &'static Shape,
    place: &mut Vec<&'static str>,
    seen: &mut Vec<&'static TypeDef>,
    found: &mut Vec<Vec<&'static str>>,
) {
    let def = match shape {
        Shape::Object(def) => *def,
        Shape::List { item, .. } => return below(item, place, seen, found),
        Shape::Map { value, .. } => return below(value, place, seen, found),
        Shape::Scalar(_) | Shape::Any => return,
    };
    if seen.iter().any(|above| ptr::eq(*above, def)) {
        return;
    }
    if def.fields.iter().any(|field| field.null_when_absent) {
        found.push(place.clone());
    }
    seen.push(def);
    for field in def.fields {
        place.push(field.name);
        below(&field.shape, place, seen, found);
        place.pop();
    }
    seen.pop();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use orch_storage::{Body, Change};
    use serde_json::json;

    use super::*;
    use crate::{behaviour::Behaviours, client::Client, objects::key, stored, test_core};

    #[test]
    fn places_are_those_of_embedded_metadata() {
        let catalog = Catalog::new(&orch_meta::KUBERNETES, orch_api::registry().iter().copied());
        let of = |group: &str, plural: &str| {
            let resource = catalog.resource(group, "v1", plural).unwrap();
            places(resource.def.type_def).iter().map(|place| place.join(".")).collect::<Vec<_>>()
        };
        let claim = "spec.volumes.ephemeral.volumeClaimTemplate.metadata";
        assert_eq!(of("", "pods"), [claim]);
        let in_template =
            ["spec.template.metadata".to_owned(), claim.replace("spec.", "spec.template.spec.")];
        assert_eq!(of("apps", "daemonsets"), in_template);
        assert!(of("", "configmaps").is_empty());
    }

    /// The bytes of an object as an older build has stored it, under another name.
    fn without_nulls(object: &Object) -> Body {
        let text = str::from_utf8(object.value().unwrap()).unwrap();
        let version = format!(r#""resourceVersion":"{}""#, object.revision());
        let old = text
            .replace(r#""creationTimestamp":null,"#, "")
            .replace(r#""name":"new""#, r#""name":"old""#)
            .replace(&version, r#""resourceVersion":"""#);
        let revision_at = stored::revision_at(old.as_bytes()).unwrap();
        Body::new(old.into(), revision_at)
    }

    #[tokio::test]
    async fn what_is_stored_without_nulls_is_read_with_them_and_written_anew() {
        let client = Client::new(test_core::core(&Behaviours::default()), "test");
        let storage = client.core().storage();
        let sets: &Arc<ServedResource> =
            client.core().catalog().resource("apps", "v1", "daemonsets").unwrap();
        let set = json!({
            "kind": "DaemonSet", "apiVersion": "apps/v1", "metadata": {"name": "new", "namespace": "n"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
                "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
        });
        let nulls = |object: &Object| {
            let text = str::from_utf8(stored::bytes_of(sets, object).unwrap()).unwrap().to_owned();
            text.matches(r#""template":{"metadata":{"creationTimestamp":null,"labels""#).count()
        };
        let new = client.create(sets, "n", set).await.unwrap();
        assert_eq!(nulls(&new), 1);
        let created = Change::Create { key: key(sets, "n", "old"), body: without_nulls(&new) };
        let old = storage.commit(created).await.unwrap().object;
        assert_eq!(nulls(&old), 0);
        complete(client.core().catalog(), storage);
        assert_eq!(nulls(&old), 1);
        let is_current = |object: &Object| stored::is_in_storage_version(sets, object).unwrap();
        assert_eq!((is_current(&old), is_current(&new)), (false, true));

        let read = stored::tree_of(sets, &old).unwrap();
        let written = client.update(sets, "", read.clone()).await.unwrap().expect("it stays");
        assert_ne!(written.revision(), old.revision(), "it is written anew");
        assert_eq!((is_current(&written), nulls(&written)), (true, 1));
        let mut now = stored::tree_of(sets, &written).unwrap();
        now["metadata"]["resourceVersion"] = read["metadata"]["resourceVersion"].clone();
        assert_eq!(now, read, "nothing of it is changed");
        let same = stored::tree_of(sets, &written).unwrap();
        let same = client.update(sets, "", same).await.unwrap().expect("it stays");
        assert_eq!(same.revision(), written.revision());
    }
}
