//! What a schema folder promises at one time: its types as they are written, with names that hold everywhere.
//!
//! A state is read from a folder, or from the lock that was written of one; both say the same, each with its
//! own places. Types of imported folders are known by name only.

use std::collections::{BTreeMap, BTreeSet};

use super::{releases::Releases, stability::Stability, surface::Surface};
use crate::{
    Inputs, check,
    diagnostic::{Diagnostics, Span},
    load::{self, SURFACE, SchemaFile},
    lower,
    source::{self, Node, Value},
};

/// What a file says of all its types, and a type of itself.
pub(super) const EMPTY_TEXTS: &str = "x-orch-empty-texts";

/// Marks a reference within a file.
const LOCAL: &str = "#/components/schemas/";

/// What is promised.
#[derive(Debug)]
pub struct State {
    /// By qualified name: `core.v1.ConfigMap`.
    pub types: BTreeMap<String, Declared>,
    /// The releases of the product, where they are known.
    pub releases: Releases,
    /// What is promised beside the schema.
    pub surface: Surface,
    /// Breaking changes that were accepted before, with the reason; of a lock.
    pub accepted: Vec<Accepted>,
    /// Protobuf tags that fields had which are gone; of a lock.
    pub retired: BTreeSet<Retired>,
    /// The folder or the lock.
    pub span: Span,
}

/// A protobuf tag that no field has any more. Clients and stored objects know it as that of the field that is
/// gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Retired {
    /// The qualified name of the type.
    pub ty: String,
    /// The number of the message around the field, if any.
    pub inline: Option<i64>,
    /// The number.
    pub tag: i64,
    /// The field that had it.
    pub field: String,
}

/// A named type.
#[derive(Debug)]
pub struct Declared {
    /// `core` for the core group.
    pub group: String,
    /// `v1`.
    pub version: String,
    /// `ConfigMap`.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// The schema, with qualified references.
    pub schema: Node,
}

/// A breaking change that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accepted {
    /// Its code.
    pub code: String,
    /// What has changed: `example.orch.io.v1.WidgetSpec.size`.
    pub at: String,
    /// Why.
    pub reason: String,
}

impl Declared {
    /// A type of that qualified name; `None` where the name has no group and version.
    pub fn new(qualified_name: &str, span: Span, schema: Node) -> Option<Self> {
        let mut parts = qualified_name.rsplitn(3, '.');
        let (name, version, group) = (parts.next()?, parts.next()?, parts.next()?);
        let [group, version, name] = [group, version, name].map(str::to_owned);
        Some(Declared { group, version, name, span, schema })
    }

    /// The extension that makes it a kind.
    pub fn resource(&self) -> Option<&Node> {
        self.schema.get("x-orch-resource")
    }

    /// How far along its version is.
    pub fn stability(&self) -> Stability {
        Stability::of(&self.version)
    }

    /// `example.orch.io/v1`.
    pub fn group_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }
}

impl State {
    /// The state of a folder; `None` where its files have errors, which have been reported.
    pub fn of_folder(inputs: &Inputs, diagnostics: &mut Diagnostics) -> Option<State> {
        let mut found = Diagnostics::default();
        let files = load::load(inputs, &mut found);
        let lowered = lower::lower(&files, &mut found);
        check::check(&lowered, &mut found);
        let releases = Releases::of_folder(&inputs.schema.path, &mut found);
        let path = inputs.schema.path.join(SURFACE);
        let surface = path.exists().then(|| source::read(&path, &mut found)).flatten();
        let surface = surface.map(|node| Surface::read(&node, &mut found)).unwrap_or_default();
        let mut types = BTreeMap::new();
        for file in files.schemas.iter().filter(|file| file.extern_crate.is_none()) {
            types.extend(declared(file));
        }
        found.forget_warnings();
        let is_good = !found.has_errors();
        diagnostics.append(found);
        let span = Span::whole_file(&inputs.schema.path);
        let (accepted, retired) = (Vec::new(), BTreeSet::new());
        is_good.then_some(State { types, releases, surface, accepted, retired, span })
    }

    /// Remembers the tags that an older state had, or remembered, and that no field has any more. Types that
    /// are gone are forgotten, and alpha versions promise nothing.
    pub fn retire_tags(&mut self, old: &State) {
        let was = |ty: &String, ((inline, tag), found): ((Option<i64>, i64), Tag<'_>)| Retired {
            ty: ty.clone(),
            inline,
            tag,
            field: found.field.to_owned(),
        };
        let had = old.types.iter().filter(|(_, ty)| ty.stability() != Stability::Alpha);
        let had = had.flat_map(|(name, ty)| tags(&ty.schema).into_iter().map(move |tag| was(name, tag)));
        let is_retired = |tag: &Retired| {
            let ty = self.types.get(&tag.ty);
            ty.is_some_and(|ty| !tags(&ty.schema).contains_key(&(tag.inline, tag.tag)))
        };
        self.retired = had.chain(old.retired.iter().cloned()).filter(is_retired).collect();
    }

    /// Whether a lock has this change as accepted.
    pub fn has_accepted(&self, code: &str, at: &str) -> bool {
        self.accepted.iter().any(|accepted| accepted.code == code && accepted.at == at)
    }

    /// The type of a qualified name, where it is one of the folder.
    pub fn ty(&self, qualified_name: &str) -> Option<&Declared> {
        self.types.get(qualified_name)
    }

    /// The kinds, by qualified name.
    pub fn kinds(&self) -> impl Iterator<Item = (&String, &Declared, &Node)> {
        self.types.iter().filter_map(|(name, ty)| Some((name, ty, ty.resource()?)))
    }

    /// The names of feature gates, with the map that describes each: `{name, stage, default}`.
    pub fn gates(&self) -> BTreeMap<&str, Option<&Node>> {
        let mut gates: BTreeMap<&str, Option<&Node>> = BTreeMap::new();
        for (_, field) in self.types.values().flat_map(|ty| properties(&ty.schema)) {
            let Some(gate) = field.get("x-orch-feature-gate") else { continue };
            if let Some(name) = gate.text() {
                gates.entry(name).or_default();
            } else if let Some(name) = gate.get("name").and_then(Node::text) {
                gates.insert(name, Some(gate));
            }
        }
        gates
    }
}

/// The fields of a schema, with their names.
pub fn properties(schema: &Node) -> &[(source::Spanned<String>, Node)] {
    schema.get("properties").map(Node::entries).unwrap_or_default()
}

/// A field with a protobuf tag.
pub struct Tag<'s> {
    /// Its name.
    pub field: &'s str,
    /// Where the tag is written.
    pub span: &'s Span,
}

/// The fields of an object by the number of the message around them, if any, and their own.
pub fn tags(schema: &Node) -> BTreeMap<(Option<i64>, i64), Tag<'_>> {
    let number = |field: &Node, key: &str| field.get(key).and_then(|tag| tag.to_json().as_i64());
    let tagged = properties(schema).iter().filter_map(|(name, field)| {
        let tag = number(field, "x-orch-tag")?;
        let found = Tag { field: &name.value, span: field.place("x-orch-tag") };
        Some(((number(field, "x-orch-inline-tag"), tag), found))
    });
    tagged.collect()
}

/// The words of a list.
pub fn words<'n>(node: &'n Node, key: &str) -> BTreeSet<&'n str> {
    node.get(key).map(Node::items).unwrap_or_default().iter().filter_map(Node::text).collect()
}

/// The types of a file, which has no errors.
fn declared(file: &SchemaFile) -> Vec<(String, Declared)> {
    // What is wrong with it has been reported when it was loaded.
    let mut reported = Diagnostics::default();
    let Some(node) = source::read(&file.path, &mut reported) else { return Vec::new() };
    let schemas = node.get("components").and_then(|components| components.get("schemas"));
    let group = if file.group.is_empty() { "core" } else { &file.group };
    let prefix = format!("{group}.{}.", file.version);
    let of_file = node.entries().iter().find(|(key, _)| key.value == EMPTY_TEXTS);
    let mut types = Vec::new();
    for (name, schema) in schemas.map(Node::entries).unwrap_or_default() {
        let mut schema = schema.clone();
        qualify(&mut schema, &prefix);
        if let (Value::Map(entries), Some(said)) = (&mut schema.value, of_file)
            && entries.iter().any(|(key, _)| key.value == "properties")
            && entries.iter().all(|(key, _)| key.value != EMPTY_TEXTS)
        {
            entries.push(said.clone());
        }
        let qualified = format!("{prefix}{}", name.value);
        let declared = Declared::new(&qualified, name.span.clone(), schema);
        types.extend(declared.map(|declared| (qualified, declared)));
    }
    types
}

/// Writes references within the file as qualified names.
fn qualify(node: &mut Node, prefix: &str) {
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| qualify(item, prefix)),
        Value::Map(entries) => {
            for (key, node) in entries {
                match &mut node.value {
                    Value::String(text) if key.value == "$ref" => {
                        if let Some(name) = text.strip_prefix(LOCAL) {
                            *text = format!("{prefix}{name}");
                        }
                    }
                    _ => qualify(node, prefix),
                }
            }
        }
        _ => {}
    }
}
