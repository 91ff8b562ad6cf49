//! What stands at a place once names that are only other names are followed.

use super::{EnumValue, Field, ListSemantics, Model, ObjectType, Shape, Type, TypeId, TypeKind, Usage};

/// A shape without aliases.
#[derive(Clone, Copy, Debug)]
pub enum Resolved<'m> {
    /// A boolean, number, string or scalar of the runtime.
    Scalar(&'m Shape),
    /// A string with a closed set of values.
    Enum(TypeId, &'m [EnumValue]),
    /// A named object type.
    Object(TypeId, &'m ObjectType),
    /// A list.
    List(&'m Usage, &'m ListSemantics),
    /// A map.
    Map {
        /// The rules of its keys.
        keys: &'m Usage,
        /// Its values.
        value: &'m Usage,
        /// Whether merges replace it.
        atomic: bool,
    },
    /// Any JSON.
    Any,
}

impl Resolved<'_> {
    /// Whether it is a single value: neither an object, a list, a map, nor any JSON.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Resolved::Scalar(_) | Resolved::Enum(..))
    }
}

impl Model {
    /// Follows aliases to the shape behind them. Aliases that go in circles, which is an error of its own,
    /// stand for any JSON.
    pub fn resolve<'m>(&'m self, usage: &'m Usage) -> Resolved<'m> {
        match &self.innermost(usage).shape {
            Shape::Named(id) => match &self.ty(*id).kind {
                TypeKind::Object(object) => Resolved::Object(*id, object),
                TypeKind::Enum(values) => Resolved::Enum(*id, values),
                TypeKind::Alias(_) => Resolved::Any,
            },
            Shape::List { item, semantics } => Resolved::List(item, semantics),
            Shape::Map { keys, value, atomic } => Resolved::Map { keys, value, atomic: *atomic },
            Shape::Any => Resolved::Any,
            scalar => Resolved::Scalar(scalar),
        }
    }

    /// Whether a value is owned as a whole; `field` is where it stands, if that is a field.
    pub fn is_whole(&self, usage: &Usage, field: Option<&Field>) -> bool {
        match self.resolve(usage) {
            Resolved::Object(_, object) => object.atomic && !field.is_some_and(|field| field.granular),
            Resolved::Map { atomic, .. } => atomic,
            Resolved::List(_, semantics) => *semantics == ListSemantics::Atomic,
            Resolved::Scalar(_) | Resolved::Enum(..) | Resolved::Any => true,
        }
    }

    /// The usage that states the constraints: that of the innermost alias, because a reference has none of
    /// its own.
    pub fn innermost<'m>(&'m self, usage: &'m Usage) -> &'m Usage {
        let names = self.names(usage).into_iter().rev();
        let mut aliases = names.filter_map(|ty| match &ty.kind {
            TypeKind::Alias(usage) => Some(usage),
            _ => None,
        });
        aliases.next().unwrap_or(usage)
    }

    /// The named types that a usage goes through, the outermost first.
    pub fn names<'m>(&'m self, usage: &'m Usage) -> Vec<&'m Type> {
        let mut names: Vec<&Type> = Vec::new();
        let mut shape = &usage.shape;
        while let Shape::Named(id) = shape {
            let ty = self.ty(*id);
            // More names than there are types: they go in circles.
            if names.len() > self.types.len() {
                break;
            }
            names.push(ty);
            let TypeKind::Alias(usage) = &ty.kind else { break };
            shape = &usage.shape;
        }
        names
    }
}
