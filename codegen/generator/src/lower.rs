//! From files as written to the model: names become ids, references are linked, extensions are typed.
//!
//! Every declared type gets its id first, then all are lowered, then what depends on other types is settled.
//! A type that is wrong in itself keeps its id, so that one mistake is one error.

mod conversion;
mod defaults;
mod empty_texts;
mod gates;
mod keywords;
pub mod names;
mod object;
mod presence;
mod references;
mod resource;
mod rules;
mod shape;
mod vocabulary;

use std::collections::BTreeMap;

use crate::{
    diagnostic::Diagnostics,
    expression,
    idl::{Schema, VocabularyFile},
    load::{Files, SchemaFile},
    lower::{
        keywords::{Class, Position},
        references::Declared,
    },
    model::{EnumValue, GroupVersion, Model, Resource, Type, TypeId, TypeKind},
    source::Spanned,
};

/// The model, and what each of its types was made from.
#[derive(Debug)]
pub struct Lowered<'f> {
    /// What the emitters see.
    pub model: Model,
    /// What was written, by [`TypeId`]; it knows the place of each keyword.
    pub written: Vec<&'f Schema>,
    /// `vocabulary.yaml` as written.
    pub vocabulary: Option<&'f VocabularyFile>,
}

/// Lowers all files. What is wrong is reported; what can be lowered is in the result.
pub fn lower<'f>(files: &'f Files, diagnostics: &mut Diagnostics) -> Lowered<'f> {
    let declared = Declared::collect(files, diagnostics);
    let mut types = Vec::new();
    let mut resources: BTreeMap<(&str, &str), Vec<Resource>> = BTreeMap::new();
    for (index, declaration) in declared.list.iter().enumerate() {
        let mut lowering = Lowering { declared: &declared, file: declaration.file, diagnostics };
        types.push(lowering.named_type(declaration.name, declaration.schema));
        let resource = declaration
            .schema
            .resource
            .as_ref()
            .map(|extension| lowering.resource(TypeId(index), declaration.name, extension));
        if let Some(resource) = resource {
            let key = (declaration.file.group.as_str(), declaration.file.version.as_str());
            resources.entry(key).or_default().push(resource);
        }
    }
    let mut model = Model {
        group_versions: group_versions(files, &declared, resources),
        types,
        vocabularies: files
            .vocabulary
            .as_ref()
            .map(|file| vocabulary::lower(file, diagnostics))
            .unwrap_or_default(),
    };
    let written = declared.list.iter().map(|declaration| declaration.schema).collect::<Vec<_>>();
    presence::settle(&mut model, &written, diagnostics);
    empty_texts::settle(&mut model, &declared, diagnostics);
    gates::settle(&mut model, &written);
    conversion::settle(&mut model, &written);
    resource::columns::settle(&mut model, &written);
    expression::settle(&mut model, &written, diagnostics);
    expression::settle_conditions(&mut model, &written, diagnostics);
    Lowered { model, written, vocabulary: files.vocabulary.as_ref() }
}

/// Sorted by group and version; kinds by plural, types by name.
fn group_versions<'f>(
    files: &'f Files,
    declared: &Declared<'f>,
    mut resources: BTreeMap<(&'f str, &'f str), Vec<Resource>>,
) -> Vec<GroupVersion> {
    let mut group_versions: BTreeMap<(&str, &str), GroupVersion> = BTreeMap::new();
    for file in &files.schemas {
        let key = (file.group.as_str(), file.version.as_str());
        group_versions.entry(key).or_insert_with(|| {
            let mut resources = resources.remove(&key).unwrap_or_default();
            resources.sort_by(|a, b| a.plural.cmp(&b.plural));
            GroupVersion {
                group: file.group.clone(),
                version: file.version.clone(),
                resources,
                types: declared.of(&file.group, &file.version),
                extern_crate: file.extern_crate.clone(),
                in_folder: file.in_folder,
            }
        });
    }
    group_versions.into_values().collect()
}

/// What the lowering of one file works with.
struct Lowering<'l, 'f> {
    declared: &'l Declared<'f>,
    file: &'f SchemaFile,
    diagnostics: &'l mut Diagnostics,
}

impl Lowering<'_, '_> {
    fn named_type(&mut self, name: &Spanned<String>, schema: &Schema) -> Type {
        let kind = if shape::is_object(schema) {
            TypeKind::Object(self.object(&name.value, schema))
        } else if shape::is_enum(schema) {
            self.check_keywords(schema, Position::Type);
            self.check_class(schema, Class::Words);
            TypeKind::Enum(self.enum_values(schema))
        } else {
            TypeKind::Alias(self.usage(schema, Position::Type))
        };
        Type {
            qualified_name: references::qualified_name(&self.file.group, &self.file.version, &name.value),
            group: self.file.group.clone(),
            version: self.file.version.clone(),
            name: name.value.clone(),
            description: shape::text(schema.description.as_ref()),
            kind,
            validator: schema.validator.as_ref().map(|validator| validator.value.clone()),
            first_validator: schema.first_validator.as_ref().map(|validator| validator.value.clone()),
            update_validator: schema.update_validator.as_ref().map(|validator| validator.value.clone()),
            defaulter: schema.defaulter.as_ref().map(|defaulter| defaulter.value.clone()),
            // Compiled when all types are known.
            validations: Vec::new(),
            span: name.span.clone(),
        }
    }

    fn enum_values(&mut self, schema: &Schema) -> Vec<EnumValue> {
        let values = self.unique_values(schema);
        let names = names::variants(&values.iter().map(String::as_str).collect::<Vec<_>>());
        values.into_iter().zip(names).map(|(value, rust_name)| EnumValue { value, rust_name }).collect()
    }
}
