//! How the forms of an object name its fields, where several resources read and write the same stored
//! objects.
//!
//! One of the forms is the stored one. The others differ from it in the names of some fields of the object
//! itself, which the schema lists (`storedAs`).

use std::{borrow::Cow, sync::Arc};

use orch_runtime::{
    resource_def::{GroupVersionDef, ResourceDef},
    vocabulary::Vocabulary,
};

/// The fields that have another name in the stored form: the name here, and the name there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldNames(&'static [(&'static str, &'static str)]);

/// A form in which stored objects are read and written.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    /// Whose form it is, in the vocabulary's spelling.
    pub api_version: String,
    /// How it names fields.
    pub names: FieldNames,
}

impl FieldNames {
    /// Those of a kind.
    pub fn of(def: &ResourceDef) -> Self {
        FieldNames(def.stored_as.as_ref().map_or(&[], |stored_as| stored_as.renamed))
    }

    /// The name in the stored form of a field that is called `name` here.
    pub fn stored(self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| *own == name).map_or(name, |(_, stored)| stored)
    }

    /// The name here of a field that is called `name` in the stored form.
    pub fn own(self, name: &str) -> &str {
        self.0.iter().find(|(_, stored)| *stored == name).map_or(name, |(own, _)| own)
    }

    /// The path in the stored form of what selectors call `label` here: `regarding.name`.
    pub fn stored_label(self, label: &str) -> Cow<'_, str> {
        renamed(label, |name| self.stored(name))
    }

    /// What selectors call here what is called `label` in the stored form.
    pub fn own_label(self, label: &str) -> Cow<'_, str> {
        renamed(label, |name| self.own(name))
    }
}

fn renamed<'l>(label: &'l str, rename: impl Fn(&'l str) -> &'l str) -> Cow<'l, str> {
    match label.split_once('.') {
        None => rename(label).into(),
        Some((first, rest)) => match rename(first) {
            same if same == first => label.into(),
            other => format!("{other}.{rest}").into(),
        },
    }
}

/// All forms of the stored objects of a kind; empty where there is one only.
pub fn forms_of(
    def: &'static ResourceDef,
    tables: &[&'static GroupVersionDef],
    vocabulary: &Vocabulary,
) -> Arc<[Form]> {
    let stored = |def: &'static ResourceDef| def.stored_as.as_ref().map_or(def, |it| it.resource);
    let all = tables.iter().flat_map(|table| table.resources.iter().copied());
    let sharing: Vec<_> = all.filter(|other| std::ptr::eq(stored(other), stored(def))).collect();
    if sharing.len() < 2 {
        return Arc::default();
    }
    let form = |def: &ResourceDef| Form {
        api_version: vocabulary.api_version(def.group, def.version),
        names: FieldNames::of(def),
    };
    sharing.into_iter().map(form).collect()
}

#[cfg(test)]
mod tests {
    use super::FieldNames;

    #[test]
    fn names_go_both_ways() {
        let names = FieldNames(&[("note", "message"), ("regarding", "involvedObject")]);
        for (own, stored) in [
            ("note", "message"),
            ("regarding.name", "involvedObject.name"),
            ("type", "type"),
            ("metadata.note", "metadata.note"),
        ] {
            assert_eq!((&*names.stored_label(own), &*names.own_label(stored)), (stored, own));
        }
    }
}
