//! Which types there are, and what a reference means.

use std::collections::BTreeMap;

use super::Lowering;
use crate::{
    diagnostic::{Diagnostics, suggest},
    idl::Schema,
    load::{Files, SchemaFile},
    model::TypeId,
    source::Spanned,
};

/// Marks a reference within the file.
const LOCAL: &str = "#/components/schemas/";

/// All declared types; the index in the list is the [`TypeId`].
pub(super) struct Declared<'f> {
    pub list: Vec<Declaration<'f>>,
    by_name: BTreeMap<String, TypeId>,
}

/// One declared type.
pub(super) struct Declaration<'f> {
    pub file: &'f SchemaFile,
    pub name: &'f Spanned<String>,
    pub schema: &'f Schema,
}

/// `core.v1.ConfigMap`.
pub(super) fn qualified_name(group: &str, version: &str, name: &str) -> String {
    format!("{}.{version}.{name}", if group.is_empty() { "core" } else { group })
}

impl<'f> Declared<'f> {
    /// Numbers the types of all files in the order of their qualified names, and reports those declared
    /// twice.
    pub fn collect(files: &'f Files, diagnostics: &mut Diagnostics) -> Self {
        let mut sorted: BTreeMap<String, Declaration<'f>> = BTreeMap::new();
        for file in &files.schemas {
            for (name, schema) in file.types() {
                let qualified = qualified_name(&file.group, &file.version, &name.value);
                if let Some(first) = sorted.get(&qualified) {
                    let help = "rename or remove one of the two";
                    diagnostics
                        .error(&name.span, format!("duplicate type `{qualified}`"), help)
                        .related(&first.name.span, "first declared here")
                        .code("E0202");
                } else {
                    sorted.insert(qualified, Declaration { file, name, schema });
                }
            }
        }
        let (names, list): (Vec<_>, Vec<_>) = sorted.into_iter().unzip();
        let by_name = names.into_iter().enumerate().map(|(index, name)| (name, TypeId(index))).collect();
        Declared { list, by_name }
    }

    /// The type of a qualified name.
    pub fn find(&self, qualified_name: &str) -> Option<TypeId> {
        self.by_name.get(qualified_name).copied()
    }

    /// The types of one group and version, sorted by name.
    pub fn of(&self, group: &str, version: &str) -> Vec<TypeId> {
        let belongs = |file: &SchemaFile| file.group == group && file.version == version;
        let ids = self.list.iter().enumerate().filter(|(_, declaration)| belongs(declaration.file));
        ids.map(|(index, _)| TypeId(index)).collect()
    }
}

impl Lowering<'_, '_> {
    /// The type that `$ref` means; `None` after a report.
    pub(super) fn reference(&mut self, reference: &Spanned<String>) -> Option<TypeId> {
        match reference.value.strip_prefix(LOCAL) {
            Some(name) => self.local_reference(reference, name),
            None => self.qualified_reference(reference),
        }
    }

    /// The type of a qualified name; `None` after a report.
    pub(super) fn qualified_reference(&mut self, reference: &Spanned<String>) -> Option<TypeId> {
        let found = self.declared.find(&reference.value);
        if found.is_none() && !self.may_be_cut_off(&reference.value) {
            let message = format!("no type `{}` is declared", reference.value);
            let help = self.remedy(&reference.value);
            self.diagnostics.error(&reference.span, message, help).code("E0201");
        }
        found
    }

    fn local_reference(&mut self, reference: &Spanned<String>, name: &str) -> Option<TypeId> {
        let qualified = qualified_name(&self.file.group, &self.file.version, name);
        if self.file.types().any(|(declared, _)| declared.value == name) {
            return self.declared.find(&qualified);
        }
        if self.diagnostics.cut_files().any(|cut| cut == self.file.path) {
            return None;
        }
        let local: Vec<&str> = self.file.types().map(|(name, _)| name.value.as_str()).collect();
        let help = if self.declared.find(&qualified).is_some() {
            format!("it is declared in another file: write `$ref: {qualified}`")
        } else if let Some(near) = suggest::nearest(name, local) {
            format!("did you mean `{LOCAL}{near}`?")
        } else {
            self.remedy(name)
        };
        self.diagnostics
            .error(&reference.span, format!("no type `{name}` is declared in this file"), help)
            .code("E0201");
        None
    }

    /// Whether the type may stand in a part of a file that cannot be read, which has been reported.
    fn may_be_cut_off(&self, qualified: &str) -> bool {
        self.diagnostics.cut_files().any(|cut| {
            let mut folders = cut.iter().rev().skip(1).filter_map(|name| name.to_str());
            let (Some(version), Some(group)) = (folders.next(), folders.next()) else { return false };
            let rest = qualified.strip_prefix(group).and_then(|rest| rest.strip_prefix('.'));
            rest.and_then(|rest| rest.strip_prefix(version)).is_some_and(|rest| rest.starts_with('.'))
        })
    }

    /// What was meant by the name of a type that does not exist: the same name elsewhere, or a similar one.
    fn remedy(&self, name: &str) -> String {
        let known = || self.declared.by_name.keys().map(String::as_str);
        let last = name.rsplit(['.', '/']).next().unwrap_or(name);
        let same_name = known().find(|known| known.rsplit('.').next() == Some(last));
        if let Some(candidate) = same_name.or_else(|| suggest::nearest(name, known())) {
            return format!("did you mean `{candidate}`?");
        }
        format!("declare it in this file and write `{LOCAL}{last}`, or write `<group>.<version>.<Name>`")
    }
}
