//! What an expression sees of a value: its type, made from the schema.

use std::collections::{BTreeMap, HashMap};

use orch_expression::{
    environment::Environment,
    types::{Opaque, Type},
};

use super::escape;
use crate::model::{Field, Model, OBJECT_META, ObjectType, Resolved, Shape, Step, TypeId, Usage, WORDS};

/// What rules of a kind see of its own `metadata`: what no other part of the server fills or changes.
const OF_METADATA: [&str; 2] = ["generateName", "name"];

/// The types of a model, as expressions see them.
pub struct Scope<'m> {
    model: &'m Model,
    known: HashMap<TypeId, Type>,
    /// Types whose fields are being looked at.
    open: Vec<TypeId>,
    functions: Environment,
    /// Whether all of a kind's own `metadata` is seen.
    sees_metadata: bool,
}

impl<'m> Scope<'m> {
    /// The types of that model.
    pub fn new(model: &'m Model) -> Self {
        let words = WORDS.iter().map(|(name, _)| (*name, Type::Text));
        let functions = Environment::new().with_variable("words", Type::object("words", words));
        Scope { model, known: HashMap::new(), open: Vec::new(), functions, sees_metadata: false }
    }

    /// The same, where all of a kind's own `metadata` is seen.
    pub fn with_metadata(model: &'m Model) -> Self {
        Scope { sees_metadata: true, ..Scope::new(model) }
    }

    /// What every expression sees.
    pub fn functions(&self) -> Environment {
        self.functions.clone()
    }

    /// The variables of a rule about a value of a type.
    pub fn environment(&self, of: &Type, old_is_optional: bool) -> Environment {
        let old = if old_is_optional { Type::optional(of.clone()) } else { of.clone() };
        self.functions.clone().with_variable("self", of.clone()).with_variable("oldSelf", old)
    }

    /// The type of what stands at a place; nothing for what expressions cannot look at: any JSON, and types
    /// that contain themselves.
    pub fn usage(&mut self, usage: &Usage) -> Option<Type> {
        Some(match self.model.resolve(usage) {
            Resolved::Scalar(shape) => scalar(shape),
            Resolved::Enum(..) => Type::Text,
            Resolved::Object(id, object) => self.object(id, object)?,
            Resolved::List(item, _) => Type::list(self.usage(item)?),
            Resolved::Map { value, .. } => Type::map(Type::Text, self.usage(value)?),
            Resolved::Any => return None,
        })
    }

    /// The type of an object.
    pub fn object(&mut self, id: TypeId, object: &ObjectType) -> Option<Type> {
        if let Some(known) = self.known.get(&id) {
            return Some(known.clone());
        }
        if self.open.contains(&id) {
            return None;
        }
        self.open.push(id);
        let mut fields = BTreeMap::new();
        for field in &object.fields {
            let metadata = own_metadata(self.model, id, field).filter(|_| !self.sees_metadata);
            let of = match metadata {
                Some(metadata) => Some(self.seen(metadata)),
                None => self.usage(&field.usage),
            };
            if let Some((name, of)) = escape::field(&field.name).zip(of) {
                fields.insert(name, of);
            }
        }
        self.open.pop();
        let of = Type::object(self.name(id), fields);
        self.known.insert(id, of.clone());
        Some(of)
    }

    /// The type of a kind's own `metadata`.
    fn seen(&mut self, metadata: &ObjectType) -> Type {
        let fields =
            visible(metadata).filter_map(|field| escape::field(&field.name).zip(self.usage(&field.usage)));
        let fields: Vec<(String, Type)> = fields.collect();
        Type::object("metadata of a kind", fields)
    }

    /// The name of a type in messages: two types have two names.
    fn name(&self, id: TypeId) -> &'m str {
        let ty = self.model.ty(id);
        let is_single = self.model.types.iter().filter(|other| other.name == ty.name).count() == 1;
        if is_single { &ty.name } else { &ty.qualified_name }
    }
}

/// The type of a field that is the `metadata` of a kind; nothing for all others, such as those in templates.
pub fn own_metadata<'m>(model: &'m Model, owner: TypeId, field: &'m Field) -> Option<&'m ObjectType> {
    match model.resolve(&field.usage) {
        Resolved::Object(id, object) => {
            let is_metadata = field.name == "metadata" && model.ty(id).qualified_name == OBJECT_META;
            (is_metadata && is_kind(model, owner)).then_some(object)
        }
        _ => None,
    }
}

/// The fields of a kind's own `metadata` that its rules may look at.
pub fn visible(metadata: &ObjectType) -> impl Iterator<Item = &Field> {
    metadata.fields.iter().filter(|field| OF_METADATA.contains(&field.name.as_str()))
}

/// Whether a type is a kind.
pub fn is_kind(model: &Model, id: TypeId) -> bool {
    let mut kinds = model.group_versions.iter().flat_map(|group_version| &group_version.resources);
    kinds.any(|resource| resource.ty == id)
}

/// The field that an expression calls so.
pub fn field<'m>(object: &'m ObjectType, name: &str) -> Option<&'m Field> {
    object.fields.iter().find(|field| escape::field(&field.name).as_deref() == Some(name))
}

fn scalar(shape: &Shape) -> Type {
    match shape {
        Shape::Boolean => Type::Bool,
        Shape::Int32 | Shape::Int64 => Type::Int,
        Shape::Double => Type::Double,
        Shape::Bytes => Type::Bytes,
        Shape::Time | Shape::MicroTime => Type::Timestamp,
        Shape::Duration => Type::Duration,
        Shape::Quantity => Type::Opaque(Opaque::Quantity),
        Shape::IntOrString => Type::Dyn,
        _ => Type::Text,
    }
}

/// A loop of a rule: its items, and whether they are values of a map.
#[derive(Clone, Copy, Debug)]
pub struct Loop<'m> {
    /// What its items are.
    pub item: &'m Usage,
    /// Whether it goes through a map.
    pub is_map: bool,
}

/// The loops of a path, the outermost first.
pub fn loops<'m>(model: &'m Model, object: &'m ObjectType, field: &[Step]) -> Vec<Loop<'m>> {
    let ends = (0..field.len()).filter(|at| field[*at] == Step::Each);
    let found = ends.filter_map(|at| {
        let item = model.target(object, &field[..=at]).ok()?.usage;
        let list = model.target(object, &field[..at]).ok()?.usage;
        Some(Loop { item, is_map: matches!(model.resolve(list), Resolved::Map { .. }) })
    });
    found.collect()
}
