//! What stands at a place once aliases are followed, and how a field shows that its value is absent.

use crate::model::{
    EnumValue, Field, ListSemantics, Model, ObjectType, Shape, Type, TypeId, TypeKind, Usage,
};

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

/// Follows aliases to the shape behind them.
pub fn resolve<'m>(model: &'m Model, shape: &'m Shape) -> Resolved<'m> {
    match shape {
        Shape::Named(id) => match &model.ty(*id).kind {
            TypeKind::Object(object) => Resolved::Object(*id, object),
            TypeKind::Enum(values) => Resolved::Enum(*id, values),
            TypeKind::Alias(usage) => resolve(model, &usage.shape),
        },
        Shape::List { item, semantics } => Resolved::List(item, semantics),
        Shape::Map { keys, value, atomic } => Resolved::Map { keys, value, atomic: *atomic },
        Shape::Any => Resolved::Any,
        scalar => Resolved::Scalar(scalar),
    }
}

/// The named types that a usage goes through, the outermost first.
pub fn names<'m>(model: &'m Model, usage: &'m Usage) -> Vec<&'m Type> {
    let mut names = Vec::new();
    let mut shape = &usage.shape;
    while let Shape::Named(id) = shape {
        let ty = model.ty(*id);
        names.push(ty);
        let TypeKind::Alias(usage) = &ty.kind else { break };
        shape = &usage.shape;
    }
    names
}

/// The usage that states the constraints: that of the innermost alias, because a reference has none of its own.
pub fn innermost<'m>(model: &'m Model, usage: &'m Usage) -> &'m Usage {
    let mut usage = usage;
    while let Shape::Named(id) = &usage.shape {
        let TypeKind::Alias(inner) = &model.ty(*id).kind else { break };
        usage = inner;
    }
    usage
}

/// How a struct's field holds its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// `Option<T>` instead of `T`.
    pub optional: bool,
    /// When it is left out of what is written.
    pub omitted: Omitted,
}

/// When a field is left out of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omitted {
    /// It is always written.
    Never,
    /// When there is no value.
    None,
    /// When it is empty.
    Empty,
}

/// The rule of presence: see the table in the schema language's description.
pub fn presence(field: &Field, resolved: Resolved<'_>) -> Presence {
    const PLAIN: Presence = Presence { optional: false, omitted: Omitted::Never };
    const ABSENT: Presence = Presence { optional: true, omitted: Omitted::None };
    const EMPTY: Presence = Presence { optional: false, omitted: Omitted::Empty };
    if field.required {
        return Presence { optional: field.usage.nullable, omitted: Omitted::Never };
    }
    match resolved {
        Resolved::Object(..) if is_empty_object(field.default.as_ref()) => PLAIN,
        Resolved::Enum(..) | Resolved::Any => ABSENT,
        _ if field.omit_empty => EMPTY,
        _ => ABSENT,
    }
}

fn is_empty_object(default: Option<&serde_json::Value>) -> bool {
    default.and_then(serde_json::Value::as_object).is_some_and(serde_json::Map::is_empty)
}
