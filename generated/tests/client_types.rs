//! Compares the type tables with the types of existing client libraries: names, order, protobuf numbers,
//! shapes, merge rules, omitted fields, and values of enums.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

#[path = "client_types/reference.rs"]
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

/// Types that are not kinds: answers and parameters.
static OTHER_TYPES: &[&TypeDef] = &[&DELETE_OPTIONS_TYPE, &LIST_META_TYPE, &STATUS_TYPE];

/// Fields that differ from the client types on purpose: type, field, the line that is expected instead,
/// reason.
const DIFFERENT: &[(&str, &str, &str, &str)] =
    &[("meta.v1.Status", "details", "details 5 meta.v1.StatusDetails", "nobody merges an answer")];

/// Fields that are optional in the client types but required by a rule; the published schemas say that they
/// are required.
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

/// Fields that client libraries write even if they are empty, but this server leaves out.
const LEFT_OUT_WHEN_EMPTY: &[(&str, &str)] = &[
    // The value is required, so it is never empty.
    ("apps.v1.ControllerRevision", "data"),
    // It has a default, so it is never empty.
    ("core.v1.ServicePort", "targetPort"),
];

/// Fields that the published schemas describe differently.
const DIFFERENT_IN_SCHEMAS: &[(&str, &str)] = &[
    // Conditions of services may have none.
    ("meta.v1.Condition", "lastTransitionTime"),
    // A rule requires it.
    ("flowcontrol.apiserver.orch.io.v1.LimitedPriorityLevelConfiguration", "limitResponse"),
    // Absence is written as null.
    ("core.v1.ScaleIOPersistentVolumeSource", "secretRef"),
    ("core.v1.ScaleIOVolumeSource", "secretRef"),
    ("storage.orch.io.v1.CSINodeSpec", "drivers"),
    // All kinds have the same type of metadata.
    ("core.v1.Event", "metadata"),
    // The field is always written, empty or not.
    ("core.v1.NodeRuntimeHandler", "name"),
    // Events that were written in the core group have none.
    ("events.orch.io.v1.Event", "eventTime"),
    ("events.orch.io.v1.EventSeries", "lastObservedTime"),
    // The rules allow only some of the known values.
    ("core.v1.ContainerResizePolicy", "resourceName"),
    ("storage.orch.io.v1.StorageClass", "reclaimPolicy"),
];

/// The differences that were found: type, field, description.
type Differences = BTreeSet<(&'static str, String, String)>;

/// Fails for a difference that is not an exception, and for an exception without a difference.
fn check_exceptions(differences: &Differences, excepted: &[&[(&str, &str)]]) {
    let excepted: BTreeSet<(&str, &str)> = excepted.concat().into_iter().collect();
    let found: BTreeSet<(&str, &str)> =
        differences.iter().map(|(ty, field, _)| (*ty, field.as_str())).collect();
    let unexpected: Vec<String> = differences
        .iter()
        .filter(|(ty, field, _)| !excepted.contains(&(*ty, field)))
        .map(|(ty, field, difference)| format!("{ty}.{field} {difference}"))
        .collect();
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
    let unused: Vec<_> = excepted.difference(&found).collect();
    assert!(unused.is_empty(), "unused exceptions: {unused:?}");
}

/// The kinds that the client libraries have: those that their release has.
fn resources() -> impl Iterator<Item = &'static ResourceDef> {
    let all = orch_api::registry().iter().flat_map(|group_version| group_version.resources).copied();
    all.filter(|resource| resource.lifecycle.removed.is_none())
}

/// All types that kinds contain, and the types that are not kinds.
fn tables() -> BTreeMap<&'static str, &'static TypeDef> {
    fn visit(def: &'static TypeDef, seen: &mut BTreeMap<&'static str, &'static TypeDef>) {
        // A field that makes an exception has a copy of the table that is not atomic.
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
    for def in resources().map(|resource| resource.type_def).chain(OTHER_TYPES.iter().copied()) {
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
fn type_tables_match_client_types() {
    let reference = types();
    let mut wrong = Vec::new();
    for (name, def) in tables() {
        let Some(Type::Object(expected)) = reference.get(name) else {
            wrong.push(format!("{name} is not an object type of the client libraries"));
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

/// A field of a table, in the format of the reference.
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
    let strategies = [("merge", patch.merge), ("retainKeys", patch.retain_keys), ("replace", patch.replace)];
    let strategies: Vec<&str> =
        strategies.into_iter().filter_map(|(name, set)| set.then_some(name)).collect();
    let key = patch.merge_key.map(|key| format!("({key})")).unwrap_or_default();
    format!(" patch={}{key}", strategies.join(","))
}

/// The line that the reference expects for a field. Lists without a list type are atomic, and are replaced by
/// patches without a strategy.
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
        let says_nothing = is_list && (*mark == "atomic" || *mark == "patch=replace");
        !says_nothing && !mark.starts_with("default=")
    });
    for mark in marks {
        line.push(' ');
        line.push_str(mark);
    }
    line
}

/// Checks which fields are written when all values are zero, when all lists are empty, and when nothing is
/// set.
#[test]
fn fields_are_written_as_by_client_libraries() {
    let mut presence =
        Presence { reference: types(), content: Content::Zeros, differences: Differences::new() };
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
    check_exceptions(&presence.differences, &[REQUIRED_BY_RULES, LEFT_OUT_WHEN_EMPTY]);
}

fn typed(resource: &ResourceDef, tree: Tree) -> Tree {
    (resource.from_tree)(tree).unwrap().to_tree().unwrap()
}

/// What the fields of an object contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Zero for each single value; lists and maps with one item.
    Zeros,
    /// Empty lists and maps; objects, but no single values.
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

/// A step on the path into an object.
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

/// One path to each object type below a kind.
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
    differences: Differences,
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
            // A default replaces a value that is left out.
            if is_written != should_be && (is_written || own.default.is_none()) {
                let difference =
                    format!("is {} with {:?}", if is_written { "written" } else { "left out" }, self.content);
                self.differences.insert((def.name, field.name.clone(), difference));
            }
        }
    }
}

/// Whether client libraries write the field. A struct that is not a pointer is always written, even if the
/// type says to omit it when empty. A pointer is written when it is set; a list or map when it has items.
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

/// The published schemas: required fields, and values of enums.
#[test]
fn published_schemas_match_client_types() {
    let reference = types();
    let documents: Vec<Tree> =
        orch_api::registry().iter().map(|own| serde_json::from_str(own.schemas).unwrap()).collect();
    let mut differences = Differences::new();
    for name in tables().into_keys() {
        let Some(Type::Object(expected)) = reference.get(name) else { continue };
        let schema =
            documents.iter().find_map(|document| document.get(name)).unwrap_or_else(|| panic!("no {name}"));
        for field in &expected.fields {
            let Some(property) = schema["properties"].get(&field.name) else { continue };
            let is_required =
                schema["required"].as_array().is_some_and(|names| names.contains(&json!(field.name)));
            if is_required != field.required {
                differences.insert((name, field.name.clone(), format!("is required: {is_required}")));
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
                differences.insert((name, field.name.clone(), format!("allows {allowed:?}, not {known:?}")));
            }
        }
    }
    check_exceptions(&differences, &[REQUIRED_BY_RULES, DIFFERENT_IN_SCHEMAS]);
}
