//! What stands behind names that are only other names.

use super::{EnumValue, Model, ObjectType, Shape, Type, TypeKind};

/// A shape with all aliases followed.
#[derive(Clone, Copy, Debug)]
pub enum Behind<'m> {
    /// An object with fields.
    Object(&'m Type, &'m ObjectType),
    /// A string with a closed set of values.
    Enum(&'m Type, &'m [EnumValue]),
    /// Anything else; never [`Shape::Named`].
    Shape(&'m Shape),
}

impl Model {
    /// Follows names until something else stands there. Names that go in circles, which is an error of its own,
    /// stand for any value.
    pub fn behind<'m>(&'m self, shape: &'m Shape) -> Behind<'m> {
        let mut shape = shape;
        for _ in 0..=self.types.len() {
            let Shape::Named(id) = shape else { return Behind::Shape(shape) };
            let ty = self.ty(*id);
            match &ty.kind {
                TypeKind::Object(object) => return Behind::Object(ty, object),
                TypeKind::Enum(values) => return Behind::Enum(ty, values),
                TypeKind::Alias(usage) => shape = &usage.shape,
            }
        }
        Behind::Shape(&Shape::Any)
    }
}

impl Behind<'_> {
    /// Whether it is a single value: neither an object, a list, a map, nor any JSON.
    pub fn is_scalar(&self) -> bool {
        match self {
            Behind::Object(..) => false,
            Behind::Enum(..) => true,
            Behind::Shape(shape) => {
                !matches!(shape, Shape::List { .. } | Shape::Map { .. } | Shape::Any | Shape::Named(_))
            }
        }
    }
}
