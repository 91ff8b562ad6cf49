//! Model in, files out: Rust for every group and version, and the schemas that they publish.
//!
//! ```text
//! <root>.rs                 modules, the registry, the vocabularies
//! core/v1.rs                types, defaults, rules, tables
//! core/v1.openapi.json      published schemas
//! ```
//!
//! The root file is to be included at the root of a crate, because generated code calls hand-written functions
//! by `crate::validators::<name>` and `crate::defaults::<name>`. The same model gives the same bytes.

mod defaults;
mod layout;
mod openapi;
mod reach;
mod resources;
mod root;
mod scope;
mod shape;
mod tables;
mod text;
mod types;
mod validate;
mod vocabulary;

use self::{layout::Layout, reach::Reach, scope::Scope, text::Item};
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

/// Everything that is generated for the model; `root` is the root file's name without `.rs`.
pub fn emit(model: &Model, root: &str) -> Vec<GeneratedFile> {
    let layout = Layout::new(model);
    let reach = Reach::new(model, &layout);
    let mut files = vec![GeneratedFile { path: format!("{root}.rs"), text: root::root(model, &layout) }];
    for group_version in own_group_versions(model) {
        let scope = Scope::new(model, &layout, &reach, group_version);
        let version = Layout::version_module(group_version);
        let stem = format!("{}/{version}", layout.group_module(group_version));
        let schemas_file = format!("{version}.openapi.json");
        files.push(GeneratedFile { path: format!("{stem}.rs"), text: module(&scope, &schemas_file) });
        files.push(GeneratedFile { path: format!("{stem}.openapi.json"), text: openapi::schemas(&scope) });
    }
    files
}

/// What is generated for one kind or type: its own name (`ConfigMap`), or a qualified one
/// (`core.v1.ConfigMap`).
pub fn show(model: &Model, name: &str) -> Result<String, ShowError> {
    let layout = Layout::new(model);
    let reach = Reach::new(model, &layout);
    let mut shown = Vec::new();
    for group_version in own_group_versions(model) {
        let scope = Scope::new(model, &layout, &reach, group_version);
        for id in &group_version.types {
            let ty = model.ty(*id);
            if ty.name == name || ty.qualified_name == name {
                let items = with_uses(&scope, type_items(&scope, ty));
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

fn module(scope: &Scope<'_>, schemas_file: &str) -> String {
    let types = scope.group_version.types.iter();
    let mut items: Vec<Item> = types.flat_map(|id| type_items(scope, scope.model.ty(*id))).collect();
    items.push(resources::group_version(scope, schemas_file).into());
    text::source(&with_uses(scope, items))
}

/// Puts what the items import before them.
fn with_uses(scope: &Scope<'_>, items: Vec<Item>) -> Vec<Item> {
    let mut all = vec![scope.uses().into()];
    all.extend(items);
    all
}

/// Everything about one type, in reading order.
fn type_items(scope: &Scope<'_>, ty: &Type) -> Vec<Item> {
    let mut items = vec![types::definition(scope, ty)];
    if let TypeKind::Object(object) = &ty.kind {
        items.push(defaults::implementation(scope, ty).into());
        items.push(validate::implementation(scope, ty).into());
        items.push(tables::type_def(scope, ty, object).into());
    }
    let resource =
        scope.group_version.resources.iter().find(|resource| std::ptr::eq(scope.model.ty(resource.ty), ty));
    items.extend(resource.map(|resource| resources::resource(scope, resource).into()));
    items
}
