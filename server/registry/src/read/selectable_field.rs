//! The values of the fields that a kind can be selected by, as its schema lists them.

use orch_runtime::{
    Tree,
    resource_def::ResourceDef,
    type_def::{Scalar, Shape, TypeDef},
};

/// The value of a selectable field, by its label: that of the first of its paths with a value.
pub fn selectable_value(def: &ResourceDef, label: &str, tree: Option<&Tree>) -> Option<String> {
    let field = def.selectable_fields.iter().find(|field| field.label == label)?;
    field.paths.iter().filter_map(|path| value_at(def, path, tree)).find(|value| !value.is_empty())
}

/// An absent boolean or number counts as false or 0.
fn value_at(def: &ResourceDef, path: &[&str], tree: Option<&Tree>) -> Option<String> {
    match path.iter().try_fold(tree?, |tree, name| tree.get(name)) {
        Some(Tree::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
        None => zero_of(def.type_def, path).map(str::to_owned),
    }
}

fn zero_of(def: &'static TypeDef, path: &[&str]) -> Option<&'static str> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(def, |def, name| match def.field(name)?.shape {
        Shape::Object(inner) => Some(inner),
        _ => None,
    })?;
    match parent.field(last)?.shape {
        Shape::Scalar(Scalar::Boolean) => Some("false"),
        Shape::Scalar(Scalar::Int32 | Scalar::Int64) => Some("0"),
        _ => None,
    }
}
