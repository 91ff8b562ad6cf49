//! The forms of an object: the versions of its kind, and other kinds that read and write the same stored
//! objects.
//!
//! The schema says how objects of one form become those of another one (`conversion`). These tables lead to
//! one kind, over several versions maybe, so there is exactly one way from each form to each other one. One
//! form is the stored one.

use std::{borrow::Cow, sync::Arc};

use orch_runtime::{
    Tree,
    conversion::Direction,
    resource_def::{ConversionDef, GroupVersionDef, ResourceDef},
    vocabulary::Vocabulary,
};

/// A form in which stored objects are read and written.
#[derive(Debug)]
pub struct Form {
    /// The kind whose form it is.
    pub def: &'static ResourceDef,
    /// In the vocabulary's spelling.
    pub api_version: String,
    /// How an object begins that is stored in this form; see [`stored`](crate::stored).
    pub prefix: String,
}

impl Form {
    /// That of a kind.
    pub fn of(def: &'static ResourceDef, vocabulary: &Vocabulary) -> Self {
        let api_version = vocabulary.api_version(def.group, def.version);
        let prefix = format!(r#"{{"kind":"{}","apiVersion":"{api_version}","#, def.kind);
        Form { def, api_version, prefix }
    }
}

/// All forms of the stored objects of a kind; empty where there is one only.
pub fn forms_of(
    def: &'static ResourceDef,
    tables: &[&'static GroupVersionDef],
    vocabulary: &Vocabulary,
) -> Arc<[Form]> {
    let family = family(def, tables);
    if family.len() < 2 {
        return Arc::default();
    }
    family.into_iter().map(|def| Form::of(def, vocabulary)).collect()
}

/// The form in which objects of a kind are stored.
pub fn stored_form(def: &'static ResourceDef, tables: &[&'static GroupVersionDef]) -> &'static ResourceDef {
    let stored = family(def, tables).into_iter().find(|member| member.storage_version);
    stored.unwrap_or_else(|| last(def))
}

/// Whether two kinds are versions of the same one.
pub fn are_versions(one: &ResourceDef, other: &ResourceDef) -> bool {
    (one.group, one.kind) == (other.group, other.kind)
}

fn family(def: &'static ResourceDef, tables: &[&'static GroupVersionDef]) -> Vec<&'static ResourceDef> {
    let all = tables.iter().flat_map(|table| table.resources.iter().copied());
    all.filter(|other| std::ptr::eq(last(other), last(def))).collect()
}

/// Where the conversions from a kind lead.
fn last(def: &'static ResourceDef) -> &'static ResourceDef {
    upwards(def).last().map_or(def, |conversion| conversion.to)
}

fn upwards(def: &'static ResourceDef) -> impl Iterator<Item = &'static ConversionDef> {
    std::iter::successors(def.conversion.as_ref(), |conversion| conversion.to.conversion.as_ref())
}

/// The conversions from one form to another, in order.
pub struct Way(Vec<(&'static ConversionDef, Direction)>);

impl Way {
    /// From one form to another one of the same objects.
    pub fn between(from: &'static ResourceDef, to: &'static ResourceDef) -> Self {
        let mut up: Vec<_> = upwards(from).collect();
        let mut down: Vec<_> = upwards(to).collect();
        // What both have at the end is not on the way.
        while let (Some(one), Some(other)) = (up.last(), down.last())
            && std::ptr::eq(*one, *other)
        {
            up.pop();
            down.pop();
        }
        let up = up.into_iter().map(|conversion| (conversion, Direction::Up));
        Way(up.chain(down.into_iter().rev().map(|conversion| (conversion, Direction::Down))).collect())
    }

    /// Converts an object without its type; see [`ConversionDef::convert`].
    pub fn convert(&self, keeps: bool, vocabulary: &Vocabulary, tree: &mut Tree) {
        for (conversion, direction) in &self.0 {
            conversion.convert(*direction, keeps, vocabulary, tree);
        }
    }

    /// Converts a set of owned fields.
    pub fn convert_owned(&self, set: &mut Tree) {
        for (conversion, direction) in &self.0 {
            conversion.convert_owned(*direction, set);
        }
    }

    /// The path in the other form of what has this path, `spec.host`; `None` where the value is not the same.
    pub fn path<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        self.0.iter().try_fold(Cow::Borrowed(path), |path, (conversion, direction)| match path {
            Cow::Borrowed(path) => conversion.path(*direction, path),
            Cow::Owned(path) => conversion.path(*direction, &path).map(|path| Cow::Owned(path.into_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use orch_api::{core, events};
    use orch_runtime::object::Kind;

    use super::*;

    #[test]
    fn a_way_leads_from_each_form_to_each_other() {
        let (core, other) = (core::v1::Event::RESOURCE, events::v1::Event::RESOURCE);
        for (from, to, path, expected) in [
            (other, core, "note", "message"),
            (core, other, "involvedObject.name", "regarding.name"),
            (core, other, "type", "type"),
            (core, core, "message", "message"),
        ] {
            assert_eq!(Way::between(from, to).path(path).as_deref(), Some(expected), "{path}");
        }
        assert!(std::ptr::eq(stored_form(other, orch_api::registry()), core));
    }
}
