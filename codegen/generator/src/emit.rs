//! Model in, files out: Rust for every group and version, and the schemas that they publish.
//!
//! ```text
//! <root>.rs                 modules, the registry, the vocabularies
//! <root>.proofs.rs          tests of conversions
//! core/v1.rs                types, defaults, rules, tables
//! core/v1.openapi.json      published schemas
//! core/v1.client.rs         kinds for clients, where they are asked for
//! ```
//!
//! The root file is to be included at the root of a crate, because generated code calls hand-written
//! functions by `crate::validators::<name>` and `crate::defaults::<name>`. The same model gives the same
//! bytes.

mod clients;
mod conversion;
mod defaults;
mod emitter;
mod expression;
mod layout;
mod literal;
mod openapi;
mod pattern;
mod proofs;
mod reach;
mod resources;
mod root;
mod tables;
mod text;
mod types;
mod validate;
mod vocabulary;

use std::collections::BTreeMap;

pub use self::layout::Layout;
use self::{emitter::Emitter, reach::Reach, text::Item};
use crate::model::{GroupVersion, Model, Type, TypeKind};

/// One generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Relative to the output folder, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Why [`show`] has nothing to show.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// No kind or type of that name exists.
    #[error("no kind or type is called `{name}`")]
    Unknown {
        /// The name asked for.
        name: String,
    },
}

/// Everything that is generated for the model; `root` is the root file's name without `.rs`, and `clients` is
/// whether there are kinds for clients too. The root `v2/widgets` is that of a module `v2`, and all files are
/// in a folder of that name.
pub fn emit(model: &Model, root: &str, clients: bool) -> Vec<GeneratedFile> {
    let within = root.rsplit_once('/').map(|(module, _)| module);
    let folder = within.map(|module| format!("{module}/")).unwrap_or_default();
    let layout = Layout::new(model).within(within);
    let reach = Reach::new(model);
    let root_text = root::root(model, &layout, clients);
    let mut files = vec![GeneratedFile { path: format!("{root}.rs"), text: root_text }];
    let proofs = proofs::proofs(model, &layout, own_group_versions(model));
    files.push(GeneratedFile { path: format!("{root}.proofs.rs"), text: proofs });
    for group_version in own_group_versions(model) {
        let emitter = Emitter::new(model, &layout, &reach, group_version);
        let version = Layout::version_module(group_version);
        let stem = format!("{folder}{}/{version}", layout.group_module(group_version));
        let schemas_file = format!("{version}.openapi.json");
        files.push(GeneratedFile { path: format!("{stem}.rs"), text: module(&emitter, &schemas_file) });
        files.push(GeneratedFile { path: format!("{stem}.openapi.json"), text: openapi::schemas(&emitter) });
        if clients && clients::has_any(group_version) {
            // What it imports is its own.
            let emitter = Emitter::new(model, &layout, &reach, group_version);
            let file = clients::file_name(&version);
            let path = format!("{folder}{}/{file}", layout.group_module(group_version));
            files.push(GeneratedFile { path, text: clients::module(&emitter) });
        }
    }
    files
}

/// The published schemas of all types, those of imported folders too, by qualified name.
pub fn published(model: &Model) -> BTreeMap<String, serde_json::Value> {
    let layout = Layout::new(model);
    let reach = Reach::new(model);
    let mut all = BTreeMap::new();
    for group_version in &model.group_versions {
        let text = openapi::schemas(&Emitter::new(model, &layout, &reach, group_version));
        let schemas: BTreeMap<String, serde_json::Value> =
            serde_json::from_str(&text).expect("published schemas are a JSON object");
        all.extend(schemas);
    }
    all
}

/// What is generated for one kind or type: its own name (`ConfigMap`), or a qualified one
/// (`core.v1.ConfigMap`).
pub fn show(model: &Model, name: &str) -> Result<String, ShowError> {
    let layout = Layout::new(model);
    let reach = Reach::new(model);
    let mut shown = Vec::new();
    for group_version in own_group_versions(model) {
        let emitter = Emitter::new(model, &layout, &reach, group_version);
        for id in &group_version.types {
            let ty = model.ty(*id);
            if ty.name == name || ty.qualified_name == name {
                let mut items = type_items(&emitter, ty);
                items.extend(expression::value_functions(&emitter).into_iter().map(Item::from));
                let items = with_uses(&emitter, items);
                shown.push(format!("// {}\n{}", ty.qualified_name, text::source(&items)));
            }
        }
    }
    if shown.is_empty() { Err(ShowError::Unknown { name: name.to_owned() }) } else { Ok(shown.join("\n")) }
}

/// The groups and versions that belong to the crate which is being generated.
fn own_group_versions(model: &Model) -> impl Iterator<Item = &GroupVersion> {
    model.group_versions.iter().filter(|group_version| group_version.extern_crate.is_none())
}

fn module(emitter: &Emitter<'_>, schemas_file: &str) -> String {
    let types = emitter.group_version.types.iter();
    let mut items: Vec<Item> = types.flat_map(|id| type_items(emitter, emitter.model.ty(*id))).collect();
    items.push(resources::group_version(emitter, schemas_file).into());
    items.extend(expression::value_functions(emitter).into_iter().map(Item::from));
    text::source(&with_uses(emitter, items))
}

/// Puts what the items import before them.
fn with_uses(emitter: &Emitter<'_>, items: Vec<Item>) -> Vec<Item> {
    let mut all = vec![emitter.uses().into()];
    all.extend(items);
    all
}

/// Everything about one type, in reading order.
fn type_items(emitter: &Emitter<'_>, ty: &Type) -> Vec<Item> {
    let mut items = vec![types::definition(emitter, ty)];
    if let TypeKind::Object(object) = &ty.kind {
        items.push(defaults::implementation(emitter, ty).into());
        items.push(validate::implementation(emitter, ty).into());
        items.push(tables::type_def(emitter, ty, object).into());
    }
    let resource = emitter
        .group_version
        .resources
        .iter()
        .find(|resource| std::ptr::eq(emitter.model.ty(resource.ty), ty));
    items.extend(resource.map(|resource| resources::resource(emitter, resource).into()));
    items
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{
        Inputs, load,
        model::{OBJECT_META, TypeId},
    };

    /// Reach says beforehand which bodies are empty; the emitters find out by writing them.
    #[test]
    fn reach_is_what_is_emitted() {
        for schema in ["tests/golden/schema", "../../schema"] {
            let loaded = load(&Inputs { schema: Path::new(schema).into(), imports: Vec::new() });
            let (layout, reach) = (Layout::new(&loaded.model), Reach::new(&loaded.model));
            for group_version in own_group_versions(&loaded.model) {
                let emitter = Emitter::new(&loaded.model, &layout, &reach, group_version);
                for (index, ty) in loaded.model.types.iter().enumerate() {
                    let id = TypeId(index);
                    // Those of metadata are called by the server alone.
                    let is_called = ty.qualified_name != OBJECT_META;
                    let has = [
                        !defaults::statements(&emitter, ty).is_empty(),
                        !validate::rules(&emitter, ty).is_empty(),
                        is_called && !validate::update_rules(&emitter, ty).is_empty(),
                    ];
                    let reached =
                        [&reach.defaults, &reach.rules, &reach.updates].map(|set| set.contains(&id));
                    assert_eq!(reached, has, "{}: defaults, rules, rules of a change", ty.qualified_name);
                }
            }
        }
    }
}
