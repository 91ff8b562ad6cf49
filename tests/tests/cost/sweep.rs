//! Every list and map of every kind, with many items, in every way in which clients send them.

use std::{collections::HashSet, sync::Arc, time::Duration};

use bytes::Bytes;
use orch_machinery::{
    body::{Reader, read_cbor, read_json, read_protobuf, read_yaml},
    cbor,
    media_type::{PatchKind, Syntax},
    protobuf, yaml,
};
use orch_registry::catalog::ServedResource;
use orch_runtime::Tree;
use serde_json::json;

use crate::{
    meter::{alone, growth, measured},
    places::{Items, Place, of_type},
    server::{NAME, Server, item, parts},
};

/// The smaller number of items that are compared.
const SIZE: usize = 1_000;

/// The largest body that the server reads.
const BODY: usize = 3 * 1024 * 1024;

/// How many operations a JSON patch may have.
const OPERATIONS: usize = 10_000;

/// What one request may take: time of the processor, and memory. Without optimizations it takes up to five
/// times as long.
const MAX_TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 });
const MAX_MEMORY: usize = 100 * 1024 * 1024;

/// All places take minutes. A run looks at one of so many, unless all are asked for.
const STRIDE: usize = 24;

/// All lists and maps, each with its kind.
fn places(server: &Server) -> Vec<(Arc<ServedResource>, Place)> {
    let mut known = HashSet::new();
    let mut resources = server.resources();
    // Pods have the most rules for the types that they share with others.
    resources.sort_by_key(|resource| resource.def.plural != "pods");
    resources
        .into_iter()
        .flat_map(|resource| {
            let places = of_type(resource.def.type_def, &mut known);
            places.into_iter().map(move |place| (Arc::clone(&resource), place)).collect::<Vec<_>>()
        })
        .collect()
}

/// Each `stride`th of the places, or all where `ORCH_TEST_ALL` is set.
fn some_places(server: &Server, stride: usize, first: usize) -> Vec<(Arc<ServedResource>, Place)> {
    let is_all = std::env::var_os("ORCH_TEST_ALL").is_some();
    let (first, stride) = if is_all { (0, 1) } else { (first, stride) };
    places(server).into_iter().skip(first).step_by(stride).collect()
}

fn document(resource: &ServedResource, mut object: Tree) -> Tree {
    object["kind"] = resource.def.kind.into();
    object["apiVersion"] = resource.api_version.clone().into();
    object
}

fn text(tree: &Tree) -> Bytes {
    tree.to_string().into()
}

/// The formats of bodies: their names, and their readers.
const FORMATS: [(&str, Reader); 4] =
    [("JSON", read_json), ("YAML", read_yaml), ("protobuf", read_protobuf), ("CBOR", read_cbor)];

/// An object in a format; none for kinds that do not have it.
fn written(resource: &ServedResource, object: &Tree, format: &str) -> Option<Bytes> {
    let def = resource.def;
    match format {
        "JSON" => Some(text(object)),
        "YAML" => Some(yaml::encode(object).into()),
        "CBOR" => Some(cbor::encode(object, def.type_def).into()),
        _ => Some(protobuf::encode(object, def.type_def, &resource.api_version, def.kind).ok()?.into()),
    }
}

/// A body of this many bytes at most, nearly all of it items of one place.
fn large_body(resource: &ServedResource, place: &Place, items: Items, format: &str) -> Option<Bytes> {
    let written = |count| written(resource, &document(resource, place.object(items, count)), format);
    let (few, more) = (written(100)?.len(), written(1_100)?.len());
    let each = ((more - few) / 1_000).max(1) + usize::from(items != Items::Empty);
    let mut body = written((BODY - few) / each)?;
    body.truncate(BODY);
    Some(body)
}

#[test]
fn tables_name_lists_and_maps_of_every_sort() {
    let _turn = alone();
    let server = Server::start();
    let pointers: HashSet<String> = places(&server).iter().map(|(_, place)| place.pointer()).collect();
    for known in ["/data", "/metadata/managedFields", "/spec/initContainers/0/env", "/status/conditions"] {
        assert!(pointers.contains(known), "{known} of {pointers:?}");
    }
}

#[test]
fn creates_grow_with_their_body() {
    let _turn = alone();
    let server = Server::start();
    let mut faults = Vec::new();
    for (resource, place) in some_places(&server, STRIDE, 1) {
        for items in Items::ALL {
            let grown = growth(SIZE, |count| {
                let body = text(&document(&resource, place.object(items, count)));
                measured(|| drop(server.create(&resource, read_json, &body))).0
            });
            faults.extend(
                grown.map(|why| format!("{} {} {items:?}: {why}", resource.def.kind, place.pointer())),
            );
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A way to change an object, with a body made of the object that it shall become.
#[derive(Clone, Copy)]
enum Change {
    /// In one of the formats.
    Update(&'static str, Reader),
    Patch(PatchKind),
}

impl Change {
    fn all() -> impl Iterator<Item = Change> {
        let updates = FORMATS.into_iter().map(|(format, reader)| Change::Update(format, reader));
        let kinds = [PatchKind::Merge, PatchKind::Strategic, PatchKind::Json, PatchKind::Apply];
        updates.chain(kinds.map(Change::Patch))
    }

    /// None for kinds that do not have the format.
    fn body(self, resource: &ServedResource, place: &Place, object: &Tree) -> Option<Bytes> {
        match self {
            Change::Update(format, _) => written(resource, object, format),
            Change::Patch(PatchKind::Json) => Some(text(&additions(place, object))),
            Change::Patch(_) => Some(text(object)),
        }
    }

    /// Changes the object, and then each of its parts.
    fn send(self, server: &Server, resource: &Arc<ServedResource>, body: &Bytes) {
        for target in parts(resource).chain([item(resource)]) {
            drop(match self {
                Change::Update(_, reader) => server.update_at(target, reader, body),
                Change::Patch(kind) => server.patch_at(target, kind, Syntax::Json, body),
            });
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Change::Update(format, _) => write!(f, "update as {format}"),
            Change::Patch(kind) => write!(f, "{kind:?} patch"),
        }
    }
}

/// A JSON patch that adds each item of a place by itself.
fn additions(place: &Place, object: &Tree) -> Tree {
    let pointer = place.pointer();
    let add =
        |name: &str, value: &Tree| json!({"op": "add", "path": format!("{pointer}/{name}"), "value": value});
    match object.pointer(&pointer) {
        Some(Tree::Array(items)) => items.iter().map(|item| add("-", item)).collect(),
        Some(Tree::Object(entries)) => entries.iter().map(|(name, value)| add(name, value)).collect(),
        other => panic!("{pointer} is no list or map: {other:?}"),
    }
}

#[test]
fn changes_grow_with_their_body_and_object() {
    let _turn = alone();
    let server = Server::start();
    let mut faults = Vec::new();
    for (resource, place) in some_places(&server, STRIDE, 5) {
        for items in [Items::Named, Items::Full] {
            for change in Change::all() {
                let grown = growth(SIZE, |count| {
                    let object = document(&resource, place.object(items, count));
                    // What is too large to be stored is patched into the object before it.
                    let _ = server.put(&resource, object.clone());
                    let Some(body) = change.body(&resource, &place, &object) else { return Duration::ZERO };
                    measured(|| change.send(&server, &resource, &body)).0
                });
                faults.extend(
                    grown.map(|why| format!("{change} of {} {}: {why}", resource.def.kind, place.pointer())),
                );
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_largest_bodies_stay_within_time_and_memory() {
    let _turn = alone();
    let server = Server::start();
    let (mut faults, mut slowest) = (Vec::new(), Duration::ZERO);
    for (resource, place) in some_places(&server, 3 * STRIDE, 3) {
        let _ = server.put(&resource, place.object(Items::Named, SIZE));
        for (position, (format, reader)) in FORMATS.into_iter().enumerate() {
            let items = [Items::Empty, Items::Named][(place.pointer().len() + position) % 2];
            let Some(body) = large_body(&resource, &place, items, format) else { continue };
            let mut ways = vec![
                ("create".to_owned(), measured(|| drop(server.create(&resource, reader, &body)))),
                ("update".to_owned(), measured(|| drop(server.update(&resource, reader, &body)))),
            ];
            for target in parts(&resource) {
                let way = format!("update of {}", target.subresource_name());
                ways.push((way, measured(|| drop(server.update_at(target, reader, &body)))));
            }
            for kind in [PatchKind::Merge, PatchKind::Strategic, PatchKind::Apply] {
                let syntax = match format {
                    "JSON" => Syntax::Json,
                    "YAML" if kind == PatchKind::Apply => Syntax::Yaml,
                    _ => continue,
                };
                for target in parts(&resource).chain([item(&resource)]) {
                    let way = format!("{kind:?} patch of /{}", target.subresource_name());
                    ways.push((way, measured(|| drop(server.patch_at(target, kind, syntax, &body)))));
                }
            }
            if format == "JSON" {
                let additions = text(&additions(&place, &place.object(items, OPERATIONS)));
                let patch = measured(|| drop(server.patch(&resource, PatchKind::Json, &additions)));
                ways.push(("JSON patch".to_owned(), patch));
            }
            for (way, (time, memory, ())) in ways {
                slowest = slowest.max(time);
                if time > MAX_TIME || memory > MAX_MEMORY {
                    let (kind, place) = (resource.def.kind, place.pointer());
                    let found = format!("{time:?}, {memory} bytes");
                    faults.push(format!("{way} of {kind} {place} {items:?} as {format}: {found}"));
                }
            }
        }
    }
    println!("the slowest takes {slowest:?}");
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_largest_patches_stay_within_time_and_memory() {
    let _turn = alone();
    let server = Server::start();
    let pods = server.resource("pods");
    let service = server.resource("services");
    let many = |item: &dyn Fn(usize) -> Tree, count: usize| Tree::Array((0..count).map(item).collect());
    let named = |list: &str, items: Tree| json!({"metadata": {"name": NAME}, "spec": {list: items}});
    let bodies = [
        (&pods, "containers", many(&|n| json!({"name": format!("c{n}")}), 60_000)),
        (&pods, "volumes", many(&|n| json!({"name": format!("v{n}")}), 60_000)),
        (&service, "ports", many(&|n| json!({"port": n}), 60_000)),
    ];
    for (resource, list, items) in bodies {
        let half = |from: usize, to: usize| Tree::Array(items.as_array().unwrap()[from..to].to_vec());
        server.put(resource, named(list, half(0, 5_000))).unwrap();
        for kind in [PatchKind::Merge, PatchKind::Strategic, PatchKind::Apply] {
            for count in [6_000, 60_000] {
                let body = text(&document(resource, named(list, half(0, count))));
                let (time, memory, ()) = measured(|| drop(server.patch(resource, kind, &body)));
                assert!(
                    time < MAX_TIME && memory < MAX_MEMORY,
                    "{kind:?} of {list}: {time:?}, {memory} bytes"
                );
            }
        }
    }
    let pointer = "/a".repeat(BODY / 2 - 100);
    let operations = [
        json!([{"op": "add", "path": pointer, "value": 1}]),
        many(&|_| json!({"op": "add", "path": "/spec/containers/0", "value": {"name": "x"}}), 10_000),
        json!([{"op": "add", "path": "/metadata/annotations", "value": many(&|_| json!({"a": {}}), 10_000)},
            {"op": "copy", "from": "/metadata/annotations", "path": "/metadata/labels"},
            {"op": "copy", "from": "/metadata", "path": "/spec"},
            {"op": "copy", "from": "/spec", "path": "/data"}]),
    ];
    for patch in operations {
        let body = text(&patch);
        let (time, memory, ()) = measured(|| drop(server.patch(&pods, PatchKind::Json, &body)));
        assert!(
            time < MAX_TIME && memory < MAX_MEMORY,
            "JSON patch of {} bytes: {time:?}, {memory} bytes",
            body.len()
        );
    }
}
