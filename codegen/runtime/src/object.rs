//! The traits that generated types implement; all kinds are [`ApiObject`]s.

use std::{any::Any, fmt::Debug};

use serde::{Serialize, de::DeserializeOwned};

pub use crate::api_object::ApiObject;
use crate::{
    Tree, expression::outcome, field_error::Validation, path::Path, resource_def::ResourceDef, tree_reader,
    type_def::TypeDef,
};

/// Fills absent fields with the defaults of the schema, here and in everything below.
pub trait SetDefaults {
    /// Applies the defaults; idempotent. Does nothing for a type without defaults.
    fn set_defaults(&mut self) {}
}

/// Checks a value, and a change of a value, against the rules of the schema.
pub trait Validate {
    /// Reports every rule that the value breaks. Does nothing for a type without rules.
    fn validate(&self, _path: &Path<'_>, _cx: &mut Validation<'_>) {}

    /// Reports every rule that the change from `old` to `self` breaks (immutable fields and the like).
    /// Rules that [`validate`](Validate::validate) covers are not repeated here.
    fn validate_update(&self, _old: &Self, _path: &Path<'_>, _cx: &mut Validation<'_>) {}

    /// Whether there are rules in the expression language, here or below.
    const HAS_EXPRESSIONS: bool = false;

    /// Reports every rule in the expression language that the value breaks, or the change from `old`. They
    /// rely on the bounds that [`validate`](Validate::validate) checks, and are not run where it has found
    /// one broken.
    fn validate_expressions(&self, _old: Option<&Self>, _path: &Path<'_>, _cx: &mut Validation<'_>) {}
}

/// A generated object type: a kind, the body of a sub-resource, or a part of one.
pub trait ObjectType {
    /// The type's table. A [`BodyKind`](crate::resource_def::BodyKind) of a sub-resource refers to the same
    /// one.
    const TYPE: &'static TypeDef;
}

/// A generated top-level type: one kind of object, stored or virtual. `apiVersion` and `kind` are not fields
/// of the struct.
///
/// The type alone says which kind is meant: [`RESOURCE`](Kind::RESOURCE) has the group in the schema's
/// spelling, the version and the kind. So code that is written for a type can be registered for exactly this
/// kind.
pub trait Kind: Any + Debug + Send + Sync + Serialize + DeserializeOwned + SetDefaults + Validate {
    /// The kind's row in the resource table.
    const RESOURCE: &'static ResourceDef;
}

impl<T: Kind> ApiObject for T {
    fn set_defaults(&mut self) {
        SetDefaults::set_defaults(self);
    }

    fn validate(&self, cx: &mut Validation<'_>) {
        Validate::validate(self, &Path::ROOT, cx);
    }

    fn validate_update(&self, old: &dyn ApiObject, cx: &mut Validation<'_>) {
        let old = old.as_any().downcast_ref::<T>().expect("both states are of one kind");
        Validate::validate_update(self, old, &Path::ROOT, cx);
    }

    fn validate_expressions(&self, old: Option<&dyn ApiObject>, cx: &mut Validation<'_>) {
        if !T::HAS_EXPRESSIONS || outcome::are_skipped(cx) {
            return;
        }
        let old = old.map(|old| old.as_any().downcast_ref::<T>().expect("both states are of one kind"));
        Validate::validate_expressions(self, old, &Path::ROOT, cx);
    }

    fn to_tree(&self) -> Result<Tree, serde_json::Error> {
        serde_json::to_value(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Reads a tree as a `T`: the entry of the kind's small vtable in its [`ResourceDef`]. Unknown fields
/// (`apiVersion` and `kind` among them) are skipped.
pub fn from_tree<T: Kind>(tree: Tree) -> Result<Box<dyn ApiObject>, serde_json::Error> {
    Ok(Box::new(tree_reader::read::<T>(tree)?))
}

/// Reads a tree as a `T` by the vtable of the kind, so that the code that reads a kind exists once in a
/// program.
pub fn typed_from_tree<T: Kind>(tree: Tree) -> Result<T, serde_json::Error> {
    let object = (T::RESOURCE.from_tree)(tree)?.into_any().downcast();
    Ok(*object.expect("the vtable of a kind makes objects of that kind"))
}
