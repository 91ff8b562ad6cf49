//! `orch-codegen docs`: reference pages of all kinds, for people. A page is made once, and written as
//! Markdown or as HTML.

mod page;

use std::collections::BTreeSet;

pub use page::Format;
use page::{Block, Inline, Page};

use crate::{
    emit::GeneratedFile,
    model::{
        Constraints, Field, GroupVersion, Lifecycle, Model, ObjectType, Replacement, Resolved, Resource,
        Rule, Scope, Shape, TypeId, TypeKind, Usage,
    },
};

/// The pages of the folder's own kinds, and an index of them.
pub fn pages(model: &Model, format: Format) -> Vec<GeneratedFile> {
    let own = model.group_versions.iter().filter(|group_version| group_version.extern_crate.is_none());
    let mut index = vec![Block::Heading(1, "Kinds".to_owned())];
    let mut files = Vec::new();
    for group_version in own.filter(|group_version| !group_version.resources.is_empty()) {
        index.push(Block::Heading(2, api_version(group_version)));
        let mut rows = Vec::new();
        for resource in &group_version.resources {
            let folder = if group_version.group.is_empty() { "core" } else { &group_version.group };
            let stem = format!("{folder}/{}/{}", group_version.version, resource.kind.to_lowercase());
            let path = format!("{stem}.{}", format.extension());
            let name = Inline::Link(resource.kind.clone(), path.clone());
            rows.push(vec![
                vec![name],
                vec![Inline::Text(first_sentence(&model.ty(resource.ty).description))],
            ]);
            let title = format!("{} ({})", resource.kind, api_version(group_version));
            let text = Page { title, blocks: kind(model, group_version, resource) }.text(format);
            files.push(GeneratedFile { path, text });
        }
        index.push(Block::Table(vec!["Kind", "What it is"], rows));
    }
    let text = Page { title: "Kinds".to_owned(), blocks: index }.text(format);
    files.push(GeneratedFile { path: format!("index.{}", format.extension()), text });
    files
}

fn api_version(group_version: &GroupVersion) -> String {
    let GroupVersion { group, version, .. } = group_version;
    if group.is_empty() { version.clone() } else { format!("{group}/{version}") }
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or(text.to_owned(), |(first, _)| format!("{first}."))
}

/// The page of a kind: how it is served, its fields, and those of the types that it holds.
fn kind(model: &Model, group_version: &GroupVersion, resource: &Resource) -> Vec<Block> {
    let ty = model.ty(resource.ty);
    let mut blocks = vec![Block::Heading(1, resource.kind.clone()), Block::Text(ty.description.clone())];
    blocks.push(Block::Table(vec!["", ""], served(group_version, resource)));
    let mut shown = BTreeSet::new();
    // The last one comes first.
    let mut pending: Vec<_> = resource.subresources.iter().filter_map(|part| part.body).collect();
    pending.push(resource.ty);
    while let Some(id) = pending.pop() {
        let TypeKind::Object(object) = &model.ty(id).kind else { continue };
        if !shown.insert(id) {
            continue;
        }
        let ty = model.ty(id);
        if id == resource.ty {
            blocks.push(Block::Heading(2, "Fields".to_owned()));
        } else {
            blocks.push(Block::Heading(2, ty.name.clone()));
            blocks.push(Block::Text(ty.description.clone()));
        }
        blocks.push(Block::Table(vec!["Field", "Type", "Description"], fields(model, object)));
        let held = object.fields.iter().rev().filter_map(|field| object_in(model, &field.usage));
        pending.extend(held);
    }
    blocks
}

/// How a kind is served, in rows of two cells.
fn served(group_version: &GroupVersion, resource: &Resource) -> Vec<Vec<Vec<Inline>>> {
    let code = |words: Vec<&str>| {
        let mut cell = Vec::new();
        for word in words {
            if !cell.is_empty() {
                cell.push(Inline::Text(" ".to_owned()));
            }
            cell.push(Inline::Code(word.to_owned()));
        }
        cell
    };
    let scope = if resource.scope == Scope::Namespaced { "in a namespace" } else { "cluster" };
    let mut names = vec![resource.plural.as_str(), &resource.singular];
    names.extend(resource.short_names.iter().map(String::as_str));
    let mut rows = vec![
        ("apiVersion", code(vec![&api_version(group_version)])),
        ("kind", code(vec![&resource.kind])),
        ("Names", code(names)),
        ("Scope", vec![Inline::Text(scope.to_owned())]),
        ("Verbs", code(resource.verbs.iter().map(|verb| verb.as_str()).collect())),
        ("Subresources", code(resource.subresources.iter().map(|part| part.name.as_str()).collect())),
    ];
    let selectors: Vec<String> = resource.selectable_fields.iter().map(|path| path.join(".")).collect();
    rows.push(("Field selectors", code(selectors.iter().map(String::as_str).collect())));
    rows.push(("Life", vec![Inline::Text(life(&resource.lifecycle))]));
    rows.retain(|(_, cell)| !matches!(&cell[..], [] | [Inline::Text(_)] if page::plain(cell).is_empty()));
    rows.into_iter().map(|(name, cell)| vec![vec![Inline::Text(name.to_owned())], cell]).collect()
}

fn life(lifecycle: &Lifecycle) -> String {
    let stages = [
        ("introduced in", lifecycle.introduced.map(|release| release.to_string())),
        ("deprecated in", lifecycle.deprecated.map(|release| release.to_string())),
        ("removed in", lifecycle.removed.map(|release| release.to_string())),
        ("replaced by", lifecycle.replacement.as_ref().map(Replacement::to_string)),
    ];
    let said = stages.iter().filter_map(|(words, value)| Some(format!("{words} {}", value.as_ref()?)));
    said.collect::<Vec<_>>().join(", ")
}

/// A row for each field of an object.
fn fields(model: &Model, object: &ObjectType) -> Vec<Vec<Vec<Inline>>> {
    let rows = object.fields.iter().map(|field| {
        let mut name = vec![Inline::Code(field.name.clone())];
        if field.required {
            name.push(Inline::Text(" (required)".to_owned()));
        }
        let description = match field.description.as_str() {
            "" => object_in(model, &field.usage).map_or("", |id| &model.ty(id).description),
            text => text,
        };
        let notes = notes(model, field);
        let text = format!("{}{}{notes}", description.trim(), if notes.is_empty() { "" } else { " " });
        vec![name, type_of(model, &field.usage), vec![Inline::Text(text)]]
    });
    rows.collect()
}

/// What else is said of a field: default, bounds, gate.
fn notes(model: &Model, field: &Field) -> String {
    let mut notes = Vec::new();
    if let Some(default) = &field.default {
        notes.push(format!("Default: {default}."));
    }
    notes.extend(model.rules(&field.usage).iter().filter_map(rule));
    if field.immutable.is_some() {
        notes.push("It cannot be changed.".to_owned());
    }
    if let Some(gate) = &field.feature_gate {
        let off = if gate.default { "" } else { ", which is off by default" };
        notes.push(format!("Behind the feature gate {}{off}.", gate.name));
    }
    if let Some(text) = &field.deprecated {
        notes.push(format!("Deprecated: {text}."));
    }
    notes.join(" ")
}

/// A rule in words; those that the type tells are left out.
fn rule(rule: &Rule<'_>) -> Option<String> {
    Some(match rule {
        Rule::Between(least, greatest) => format!("From {least} to {greatest}."),
        Rule::Minimum(least) => format!("At least {least}."),
        Rule::ExclusiveMinimum(least) => format!("More than {least}."),
        Rule::Maximum(greatest) => format!("At most {greatest}."),
        Rule::ExclusiveMaximum(greatest) => format!("Less than {greatest}."),
        Rule::MultipleOf(step) => format!("A multiple of {step}."),
        Rule::Format(format) => format!("Format: {}.", format.word()),
        Rule::Pattern(pattern) => format!("Matches {pattern}."),
        Rule::MinLength(least) => format!("At least {least} bytes."),
        Rule::MaxLength(greatest) => format!("At most {greatest} bytes."),
        Rule::MinItems(least) => format!("At least {least} items."),
        Rule::MaxItems(greatest) => format!("At most {greatest} items."),
        Rule::MinProperties(least) => format!("At least {least} entries."),
        Rule::MaxProperties(greatest) => format!("At most {greatest} entries."),
        Rule::UniqueKeys(keys) => format!("Items differ in {}.", keys.join(" and ")),
        Rule::UniqueItems => "Each item once.".to_owned(),
        Rule::OneOf(_) | Rule::OwnFormat(_) => return None,
    })
}

/// The type of a value, with links to the types of the page.
fn type_of(model: &Model, usage: &Usage) -> Vec<Inline> {
    let text = |text: &str| vec![Inline::Text(text.to_owned())];
    let Constraints { enum_values, .. } = &model.innermost(usage).constraints;
    match model.resolve(usage) {
        Resolved::Object(id, _) => {
            let name = &model.ty(id).name;
            vec![Inline::Link(name.clone(), format!("#{}", name.to_lowercase()))]
        }
        Resolved::Enum(_, values) => words(values.iter().map(|value| value.value.as_str())),
        Resolved::List(item, _) => [text("list of "), type_of(model, item)].concat(),
        Resolved::Map { value, .. } => [text("map of "), type_of(model, value)].concat(),
        Resolved::Any => text("any JSON"),
        Resolved::Scalar(Shape::String(_)) if !enum_values.is_empty() => {
            words(enum_values.iter().map(String::as_str))
        }
        Resolved::Scalar(shape) => text(match shape {
            Shape::Boolean => "boolean",
            Shape::Int32 => "integer (32 bits)",
            Shape::Int64 => "integer",
            Shape::Double => "number",
            Shape::Bytes => "bytes (base64)",
            Shape::Time => "time",
            Shape::MicroTime => "time with microseconds",
            Shape::Duration => "duration",
            Shape::Quantity => "quantity",
            Shape::IntOrString => "integer or text",
            _ => "text",
        }),
    }
}

/// One of a few words.
fn words<'w>(values: impl Iterator<Item = &'w str>) -> Vec<Inline> {
    let mut cell = Vec::new();
    for value in values {
        if !cell.is_empty() {
            cell.push(Inline::Text(", ".to_owned()));
        }
        cell.push(Inline::Code(value.to_owned()));
    }
    cell
}

/// The object that a value holds, in lists and maps too.
fn object_in(model: &Model, usage: &Usage) -> Option<TypeId> {
    match model.resolve(usage) {
        Resolved::Object(id, _) => Some(id),
        Resolved::List(value, _) | Resolved::Map { value, .. } => object_in(model, value),
        _ => None,
    }
}
