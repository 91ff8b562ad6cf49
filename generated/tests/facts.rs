//! The tables of all types against what existing clients compiled in: names, order, protobuf numbers, shapes, merge
//! rules, what is written when, and which texts are allowed.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

#[path = "facts/reference.rs"]
mod reference;

use std::collections::{BTreeMap, BTreeSet};

use orch_api::meta::v1::{DELETE_OPTIONS_TYPE, LIST_META_TYPE, STATUS_TYPE};
use orch_runtime::{
    Tree,
    resource_def::ResourceDef,
    type_def::{FieldDef, ListSemantics, PatchStrategy, Scalar, Shape, TypeDef},
};
use reference::{Field, Object, Type, types};
use serde_json::json;

/// Types that are answers or parameters, not kinds.
static BESIDE_KINDS: &[&TypeDef] = &[&DELETE_OPTIONS_TYPE, &LIST_META_TYPE, &STATUS_TYPE];

/// Fields whose line in the table is another one on purpose, and why.
const DIFFERENT: &[(&str, &str, &str, &str)] =
    &[("meta.v1.Status", "details", "details 5 meta.v1.StatusDetails", "nobody merges an answer")];

/// Fields that clients can leave out as far as their types go, but no rule lets them: documents say so.
const REQUIRED_BY_RULES: &[(&str, &str)] = &[
    ("core.v1.ConfigMapEnvSource", "name"),
    ("core.v1.ConfigMapKeySelector", "name"),
    ("core.v1.ConfigMapProjection", "name"),
    ("core.v1.ConfigMapVolumeSource", "name"),
    ("core.v1.Container", "image"),
    ("core.v1.EphemeralContainer", "image"),
    ("core.v1.ExecAction", "command"),
    ("core.v1.ScaleIOPersistentVolumeSource", "volumeName"),
    ("core.v1.ScaleIOVolumeSource", "volumeName"),
    ("core.v1.SecretEnvSource", "name"),
    ("core.v1.SecretKeySelector", "name"),
    ("core.v1.SecretProjection", "name"),
    ("core.v1.SecretVolumeSource", "secretName"),
    ("core.v1.StorageOSPersistentVolumeSource", "volumeName"),
    ("core.v1.StorageOSVolumeSource", "volumeName"),
    ("flowcontrol.apiserver.orch.io.v1.FlowSchemaCondition", "type"),
    ("flowcontrol.apiserver.orch.io.v1.PriorityLevelConfigurationCondition", "type"),
];

/// Fields that clients expect even when they are empty, and which are left out here.
const LEFT_OUT_WHEN_EMPTY: &[(&str, &str)] = &[
    // No object is without it.
    ("apps.v1.ControllerRevision", "data"),
    // It has a default, so it is never empty.
    ("core.v1.ServicePort", "targetPort"),
    // Newer clients leave it out too, and only templates have none.
    ("meta.v1.ObjectMeta", "creationTimestamp"),
];

/// Fields of which documents say something else.
const DIFFERENT_IN_DOCUMENTS: &[(&str, &str)] = &[
    // A rule requires it.
    ("flowcontrol.apiserver.orch.io.v1.LimitedPriorityLevelConfiguration", "limitResponse"),
    // Absence is written as null.
    ("apps.v1.DaemonSetSpec", "selector"),
    ("core.v1.ScaleIOPersistentVolumeSource", "secretRef"),
    ("core.v1.ScaleIOVolumeSource", "secretRef"),
    ("storage.orch.io.v1.CSINodeSpec", "drivers"),
    // Metadata is the same for all kinds.
    ("core.v1.Event", "metadata"),
    // It is always written, empty or not.
    ("core.v1.Event", "reportingComponent"),
    ("core.v1.Event", "reportingInstance"),
    ("core.v1.NodeRuntimeHandler", "name"),
    ("core.v1.NodeStatus", "nodeInfo"),
    // Of the known texts, the rules allow only some.
    ("core.v1.ContainerResizePolicy", "resourceName"),
    ("storage.orch.io.v1.StorageClass", "reclaimPolicy"),
];

/// What was found wrong with fields: type, field, fault.
type Faults = BTreeSet<(&'static str, String, String)>;

/// Fails for a fault of a field that is not excepted, and for an exception without a fault.
fn judge(faults: &Faults, excepted: &[&[(&str, &str)]]) {
    let excepted: BTreeSet<(&str, &str)> = excepted.concat().into_iter().collect();
    let found: BTreeSet<(&str, &str)> = faults.iter().map(|(ty, field, _)| (*ty, field.as_str())).collect();
    let unexpected: Vec<String> = faults
        .iter()
        .filter(|(ty, field, _)| !excepted.contains(&(*ty, field)))
        .map(|(ty, field, fault)| format!("{ty}.{field} {fault}"))
        .collect();
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
    let idle: Vec<_> = excepted.difference(&found).collect();
    assert!(idle.is_empty(), "no exceptions any more: {idle:?}");
}

fn resources() -> impl Iterator<Item = &'static ResourceDef> {
    orch_api::registry().iter().flat_map(|group_version| group_version.resources).copied()
}

/// Every type that a kind holds, and those beside kinds.
fn tables() -> BTreeMap<&'static str, &'static TypeDef> {
    fn visit(def: &'static TypeDef, seen: &mut BTreeMap<&'static str, &'static TypeDef>) {
        // Where a field makes an exception, its table is a copy that is not atomic.
        let known = seen.get(def.name).copied();
        if known.is_none_or(|known| def.atomic && !known.atomic) {
            seen.insert(def.name, def);
        }
        if known.is_none() {
            for field in def.fields {
                if let Some(def) = object_in(&field.shape) {
                    visit(def, seen);
                }
            }
        }
    }
    let mut seen = BTreeMap::new();
    for def in resources().map(|resource| resource.type_def).chain(BESIDE_KINDS.iter().copied()) {
        visit(def, &mut seen);
    }
    seen
}

fn object_in(shape: &'static Shape) -> Option<&'static TypeDef> {
    match shape {
        Shape::Object(def) => Some(def),
        Shape::List { item, .. } => object_in(item),
        Shape::Map { value, .. } => object_in(value),
        Shape::Scalar(_) | Shape::Any => None,
    }
}

#[test]
fn tables_say_what_clients_compiled_in() {
    let reference = types();
    let mut wrong = Vec::new();
    for (name, def) in tables() {
        let Some(Type::Object(expected)) = reference.get(name) else {
            wrong.push(format!("{name} is no object that clients know"));
            continue;
        };
        if expected.atomic != def.atomic {
            wrong.push(format!("{name}: atomic should be {}", expected.atomic));
        }
        let expected: Vec<String> =
            expected.fields.iter().map(|field| expected_line(name, field, &reference)).collect();
        let found: Vec<String> = def.fields.iter().map(|field| line(field, &reference)).collect();
        if expected != found {
            wrong.extend(
                expected.iter().filter(|line| !found.contains(line)).map(|l| format!("{name}: not {l}")),
            );
            wrong.extend(
                found.iter().filter(|line| !expected.contains(line)).map(|l| format!("{name}: but {l}")),
            );
            wrong.push(format!("{name}: fields or their order differ"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a table says of a field, in the words of the reference.
fn line(field: &FieldDef, reference: &BTreeMap<String, Type>) -> String {
    let number = match (field.inline_tag, field.tag) {
        (Some(outer), Some(tag)) => format!("{outer}/{tag}"),
        (_, Some(tag)) => tag.to_string(),
        (_, None) => "-".to_owned(),
    };
    let mut line = format!("{} {number} {}", field.name, shape(&field.shape));
    match &field.shape {
        Shape::List { semantics: ListSemantics::Set, .. } => line.push_str(" set"),
        Shape::List { semantics: ListSemantics::Map { keys }, .. } => {
            line = format!("{line} map({})", keys.join(","));
        }
        Shape::Map { atomic: true, .. } => line.push_str(" atomic"),
        Shape::Object(def) if !def.atomic && is_atomic(def.name, reference) => line.push_str(" granular"),
        _ => {}
    }
    if field.patch != PatchStrategy::DEFAULT {
        line.push_str(&patch(&field.patch));
    }
    line
}

fn is_atomic(ty: &str, reference: &BTreeMap<String, Type>) -> bool {
    matches!(reference.get(ty), Some(Type::Object(Object { atomic: true, .. })))
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Scalar(scalar) => match scalar {
            Scalar::Boolean => "bool".to_owned(),
            Scalar::Int32 | Scalar::Int64 | Scalar::String | Scalar::Bytes | Scalar::Double => {
                format!("{scalar:?}").to_lowercase()
            }
            other => format!("{other:?}"),
        },
        Shape::Object(def) => def.name.to_owned(),
        Shape::List { item, .. } => format!("[]{}", self::shape(item)),
        Shape::Map { value, .. } => format!("map[string]{}", self::shape(value)),
        Shape::Any => "Any".to_owned(),
    }
}

fn patch(patch: &PatchStrategy) -> String {
    let strategies: Vec<&str> = [("merge", patch.merge), ("retainKeys", patch.retain_keys)]
        .into_iter()
        .filter_map(|(name, set)| set.then_some(name))
        .collect();
    let key = patch.merge_key.map(|key| format!("({key})")).unwrap_or_default();
    format!(" patch={}{key}", strategies.join(","))
}

/// What the reference says of a field. Lists that nothing is said about are atomic; `replace` is what lists and
/// objects do anyway where a patch strategy is read.
fn expected_line(ty: &str, field: &Field, reference: &BTreeMap<String, Type>) -> String {
    if let Some((.., line, _)) = DIFFERENT.iter().find(|(of, name, ..)| (*of, *name) == (ty, &field.name)) {
        return (*line).to_owned();
    }
    let base = field.base();
    let holds = match reference.get(base) {
        Some(Type::Enum(_)) => field.holds.replace(base, "string"),
        _ => field.holds.clone(),
    };
    let mut line = format!("{} {} {holds}", field.name, field.number);
    let is_list = field.holds.starts_with("[]");
    let marks = field.marks.iter().filter(|mark| {
        let says_nothing =
            (is_list && *mark == "atomic") || mark.starts_with("default=") || *mark == "patch=replace";
        !says_nothing
    });
    for mark in marks {
        line.push(' ');
        line.push_str(mark);
    }
    line
}

/// What is written of objects whose fields hold nothing but zeros, nothing but empty lists, and nothing at all.
#[test]
fn fields_are_written_when_clients_expect_them() {
    let mut presence = Presence { reference: types(), content: Content::Zeros, faults: Faults::new() };
    for resource in resources() {
        for content in [Content::Zeros, Content::EmptyLists] {
            presence.content = content;
            presence.object(resource.type_def, &typed(resource, object(resource.type_def, content)));
        }
        presence.content = Content::Nothing;
        for (path, def) in paths(resource.type_def) {
            let written =
                typed(resource, path.iter().rev().fold(json!({}), |inner, step| step.around(&inner)));
            let written = path.iter().try_fold(&written, |outer, step| step.enter(outer));
            presence.fields(def, written.unwrap_or_else(|| panic!("{} is not kept", def.name)));
        }
    }
    judge(&presence.faults, &[REQUIRED_BY_RULES, LEFT_OUT_WHEN_EMPTY]);
}

fn typed(resource: &ResourceDef, tree: Tree) -> Tree {
    (resource.from_tree)(tree).unwrap().to_tree().unwrap()
}

/// What stands in the fields of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The zero of each single value; lists and maps of one item.
    Zeros,
    /// Lists and maps without items, objects, and no single values.
    EmptyLists,
    /// Nothing.
    Nothing,
}

fn object(def: &'static TypeDef, content: Content) -> Tree {
    let fields =
        def.fields.iter().filter_map(|field| Some((field.name.to_owned(), value(&field.shape, content)?)));
    Tree::Object(fields.collect())
}

fn value(shape: &'static Shape, content: Content) -> Option<Tree> {
    Some(match (shape, content) {
        (_, Content::Nothing) | (Shape::Any | Shape::Scalar(_), Content::EmptyLists) => return None,
        (Shape::Object(def), _) => object(def, content),
        (Shape::List { .. }, Content::EmptyLists) => json!([]),
        (Shape::Map { .. }, Content::EmptyLists) | (Shape::Any, _) => json!({}),
        (Shape::List { item, .. }, _) => json!([value(item, content)?]),
        (Shape::Map { value: item, .. }, _) => json!({"key": value(item, content)?}),
        (Shape::Scalar(scalar), _) => match scalar {
            Scalar::Boolean => json!(false),
            Scalar::Int32 | Scalar::Int64 | Scalar::Double | Scalar::IntOrString => json!(0),
            Scalar::String | Scalar::Bytes => json!(""),
            Scalar::Quantity => json!("0"),
            Scalar::Duration => json!("0s"),
            Scalar::Time | Scalar::MicroTime => Tree::Null,
        },
    })
}

/// A way into an object.
#[derive(Clone, Copy, Debug)]
enum Step {
    Field(&'static str),
    Item,
    Value,
}

impl Step {
    fn around(self, inner: &Tree) -> Tree {
        match self {
            Step::Field(name) => json!({name: inner}),
            Step::Item => json!([inner]),
            Step::Value => json!({"key": inner}),
        }
    }

    fn enter(self, outer: &Tree) -> Option<&Tree> {
        match self {
            Step::Field(name) => outer.get(name),
            Step::Item => outer.get(0),
            Step::Value => outer.get("key"),
        }
    }
}

/// One way to every object type below a kind.
fn paths(root: &'static TypeDef) -> Vec<(Vec<Step>, &'static TypeDef)> {
    let mut found = vec![(Vec::new(), root)];
    let mut next = 0;
    while let Some((path, def)) = found.get(next).cloned() {
        next += 1;
        for field in def.fields {
            let mut path = path.clone();
            path.push(Step::Field(field.name));
            let mut shape = &field.shape;
            loop {
                shape = match shape {
                    Shape::List { item, .. } => {
                        path.push(Step::Item);
                        item
                    }
                    Shape::Map { value, .. } => {
                        path.push(Step::Value);
                        value
                    }
                    Shape::Object(def) if found.iter().all(|(_, known)| known.name != def.name) => {
                        found.push((path, def));
                        break;
                    }
                    Shape::Object(_) | Shape::Scalar(_) | Shape::Any => break,
                }
            }
        }
    }
    found
}

struct Presence {
    reference: BTreeMap<String, Type>,
    content: Content,
    faults: Faults,
}

impl Presence {
    fn object(&mut self, def: &'static TypeDef, written: &Tree) {
        self.fields(def, written);
        for field in def.fields {
            if let Some(found) = written.get(field.name) {
                self.value(&field.shape, found);
            }
        }
    }

    fn value(&mut self, shape: &'static Shape, written: &Tree) {
        match (shape, written) {
            (Shape::Object(def), Tree::Object(_)) => self.object(def, written),
            (Shape::List { item, .. }, Tree::Array(items)) => {
                for written in items {
                    self.value(item, written);
                }
            }
            (Shape::Map { value, .. }, Tree::Object(values)) => {
                for written in values.values() {
                    self.value(value, written);
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, def: &'static TypeDef, written: &Tree) {
        let Some(Type::Object(expected)) = self.reference.get(def.name) else { return };
        for field in &expected.fields {
            let Some(own) = def.field(&field.name) else { continue };
            let is_written = written.get(&field.name).is_some();
            let should_be = is_written_by_clients(field, &own.shape, self.content);
            // A default takes the place of what is left out.
            if is_written != should_be && (is_written || own.default.is_none()) {
                let fault =
                    format!("is {} with {:?}", if is_written { "written" } else { "left out" }, self.content);
                self.faults.insert((def.name, field.name.clone(), fault));
            }
        }
    }
}

/// What says that it is left out when empty is always written all the same if it is a structure and no pointer. A
/// pointer is written when it is given, whatever it points to; a list or map when it has items.
fn is_written_by_clients(field: &Field, shape: &'static Shape, content: Content) -> bool {
    let is_structure = match shape {
        Shape::Object(_) | Shape::Any => true,
        Shape::Scalar(scalar) => {
            matches!(scalar, Scalar::Time | Scalar::MicroTime | Scalar::Quantity | Scalar::IntOrString)
        }
        Shape::List { .. } | Shape::Map { .. } => false,
    };
    let is_given = value(shape, content).is_some_and(|value| !value.is_null());
    let has_items = field.is_collection() && content == Content::Zeros;
    !field.omit_empty || (is_structure && !field.pointer) || (is_given && (field.pointer || has_items))
}

/// The published schemas: what must be given, and which texts are allowed.
#[test]
fn documents_say_what_clients_compiled_in() {
    let reference = types();
    let documents: Vec<Tree> =
        orch_api::registry().iter().map(|own| serde_json::from_str(own.schemas).unwrap()).collect();
    let mut faults = Faults::new();
    for name in tables().into_keys() {
        let Some(Type::Object(expected)) = reference.get(name) else { continue };
        let schema =
            documents.iter().find_map(|document| document.get(name)).unwrap_or_else(|| panic!("no {name}"));
        for field in &expected.fields {
            let Some(property) = schema["properties"].get(&field.name) else { continue };
            let is_required =
                schema["required"].as_array().is_some_and(|names| names.contains(&json!(field.name)));
            if is_required != field.required {
                faults.insert((name, field.name.clone(), format!("is required: {is_required}")));
            }
            let Some(allowed) = property.get("enum").or_else(|| property.pointer("/items/enum")) else {
                continue;
            };
            let allowed: BTreeSet<&str> =
                allowed.as_array().unwrap().iter().filter_map(Tree::as_str).collect();
            let known: BTreeSet<&str> = match reference.get(field.base()) {
                Some(Type::Enum(known)) => known.iter().map(String::as_str).collect(),
                _ => BTreeSet::new(),
            };
            if allowed != known {
                faults.insert((name, field.name.clone(), format!("allows {allowed:?}, not {known:?}")));
            }
        }
    }
    judge(&faults, &[REQUIRED_BY_RULES, DIFFERENT_IN_DOCUMENTS]);
}
