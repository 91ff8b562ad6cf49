//! The traits that generated types implement, and the object-safe face that the server sees.

use std::{any::Any, fmt::Debug};

use serde::{Serialize, de::DeserializeOwned};

use crate::{Tree, field_error::Validation, path::Path, resource_def::ResourceDef};

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
}

/// A generated top-level type: one kind of object. `apiVersion` and `kind` are not fields of the struct.
pub trait Kind: Any + Debug + Send + Sync + Serialize + DeserializeOwned + SetDefaults + Validate {
    /// The kind's row in the resource table.
    const RESOURCE: &'static ResourceDef;
}

/// An object of any kind, with its rules: what a write works on between decoding and storing.
pub trait ApiObject: Any + Debug + Send + Sync {
    /// The kind's row in the resource table.
    fn resource(&self) -> &'static ResourceDef;
    /// See [`SetDefaults`].
    fn set_defaults(&mut self);
    /// See [`Validate::validate`].
    fn validate(&self, cx: &mut Validation<'_>);
    /// See [`Validate::validate_update`].
    ///
    /// # Panics
    /// If `old` is of another kind; the caller passes two states of one object.
    fn validate_update(&self, old: &dyn ApiObject, cx: &mut Validation<'_>);
    /// The structural form, without `apiVersion` and `kind`.
    fn to_tree(&self) -> Result<Tree, serde_json::Error>;
    /// For code that knows the kind.
    fn as_any(&self) -> &dyn Any;
    /// For code that knows the kind.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// For code that knows the kind.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Kind> ApiObject for T {
    fn resource(&self) -> &'static ResourceDef {
        T::RESOURCE
    }

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
    Ok(Box::new(serde_json::from_value::<T>(tree)?))
}

/// Reads a tree as a `T` by the vtable of the kind, so that the code that reads a kind exists once in a program.
pub fn typed_from_tree<T: Kind>(tree: Tree) -> Result<T, serde_json::Error> {
    let object = (T::RESOURCE.from_tree)(tree)?.into_any().downcast();
    Ok(*object.expect("the vtable of a kind makes objects of that kind"))
}
