//! An object whose kind is known at run time only.

use std::{any::Any, fmt};

use crate::{Tree, field_error::Validation};

/// An object of any kind, with its rules: what a write works on between decoding and storing.
pub trait ApiObject: Any + Send + Sync {
    /// See [`SetDefaults`](crate::object::SetDefaults).
    fn set_defaults(&mut self);
    /// See [`Validate::validate`](crate::object::Validate::validate).
    fn validate(&self, cx: &mut Validation<'_>);
    /// See [`Validate::validate_update`](crate::object::Validate::validate_update).
    ///
    /// # Panics
    /// If `old` is of another kind; the caller passes two states of one object.
    fn validate_update(&self, old: &dyn ApiObject, cx: &mut Validation<'_>);
    /// See [`Validate::validate_expressions`](crate::object::Validate::validate_expressions). Where errors
    /// were found that keep these rules from being run, that is reported.
    ///
    /// # Panics
    /// If `old` is of another kind; the caller passes two states of one object.
    fn validate_expressions(&self, old: Option<&dyn ApiObject>, cx: &mut Validation<'_>);
    /// The structural form, without `apiVersion` and `kind`.
    fn to_tree(&self) -> Result<Tree, serde_json::Error>;
    /// For code that knows the kind.
    fn as_any(&self) -> &dyn Any;
    /// For code that knows the kind.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// For code that knows the kind.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Shows nothing of the object. If it did, every program would hold the code that prints each of its kinds.
impl fmt::Debug for dyn ApiObject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ApiObject")
    }
}
