//! The pass over the input: a serde seed that follows a type table, independent of the format of the input.

use std::{borrow::Cow, collections::BTreeSet, fmt};

use orch_runtime::{
    Tree, TreeMap,
    type_def::{Scalar, Shape, TypeDef},
};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{BASE64_TEXT, DecodeError, MAX_STRICT_BYTES, MAX_STRICT_ERRORS, StrictError, location::Location};
use crate::json::{
    Limits,
    budget::{Budget, Exceeded},
};

/// What one pass collects.
pub(super) struct Context {
    max_depth: usize,
    absent: Absent,
    /// What is left of the limits.
    pub(super) budget: Budget,
    /// The bytes of all texts in `strict`.
    strict_bytes: usize,
    /// What strict field validation refuses.
    pub(super) strict: Vec<StrictError>,
    /// The error that ended the pass, if it is one of this module and not of the format.
    pub(super) error: Option<DecodeError>,
}

impl Context {
    pub(super) fn new(limits: Limits, absent: Absent, budget: Budget) -> Self {
        Context {
            max_depth: limits.effective_depth(),
            absent,
            budget,
            strict_bytes: 0,
            strict: Vec::new(),
            error: None,
        }
    }

    /// Keeps a fault at a place, whose text is made only where it is kept: it can be as long as the document.
    fn report(&mut self, fault: fn(String) -> StrictError, at: &Location<'_>) {
        if self.strict.len() >= MAX_STRICT_ERRORS || self.strict_bytes >= MAX_STRICT_BYTES {
            return;
        }
        let path = at.path();
        let bytes = path.len();
        let error = fault(path);
        if !self.strict.contains(&error) {
            self.strict_bytes += bytes;
            self.strict.push(error);
        }
    }

    /// Ends the pass where a limit is exceeded.
    fn spend<E: Error>(&mut self, spent: Result<(), Exceeded>) -> Result<(), E> {
        spent.map_err(|exceeded| self.fail(exceeded.into()))
    }

    /// Ends the pass. The error of the format says only that there is one; this error has the reason.
    fn fail<E: Error>(&mut self, error: DecodeError) -> E {
        self.error.get_or_insert(error);
        E::custom("refused")
    }

    fn enter<E: Error>(&mut self, at: &Location<'_>) -> Result<(), E> {
        if at.depth + 1 >= self.max_depth {
            Err(self.fail(DecodeError::TooDeep(self.max_depth)))
        } else {
            Ok(())
        }
    }
}

/// What the tree has of a field that is absent, but is written all the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// Nothing: what is read is what was sent.
    LeftOut,
    /// Null, as the answers have it.
    Null,
}

/// The type that a value must have.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// A top-level object: its type's fields, `apiVersion` and `kind`.
    Root(&'static TypeDef),
    /// The value of a field, list item or map entry.
    Shape(&'static Shape),
    /// Anything.
    Any,
}

impl Target {
    /// The name of the type in error messages.
    fn type_name(self) -> Cow<'static, str> {
        match self {
            Target::Root(def) => object_type_name(def).into(),
            Target::Shape(shape) => shape_type_name(shape),
            Target::Any => "interface {}".into(),
        }
    }

    /// What the reader of strategic patches says of a value of another JSON type than this.
    fn restored_from(self, found: &str) -> Option<String> {
        let found = match found {
            "string" | "bool" => found,
            "array" => "slice",
            "object" => "map",
            "number" => "int64",
            number => match number.strip_prefix("number ") {
                Some(digits) if digits.contains(['.', 'e', 'E']) => "float64",
                _ => return None,
            },
        };
        Some(match self {
            Target::Root(_) | Target::Shape(Shape::Object(_)) => {
                format!("cannot restore struct from: {found}")
            }
            Target::Shape(Shape::Map { .. }) => format!("cannot restore map from {found}"),
            Target::Shape(Shape::List { .. }) => format!("cannot restore slice from {found}"),
            Target::Shape(Shape::Scalar(Scalar::String)) if found == "int64" => {
                "cannot convert int64 to string".to_owned()
            }
            Target::Shape(Shape::Scalar(Scalar::Int32 | Scalar::Int64)) if found == "float64" => {
                format!("cannot convert float64 to {}", self.type_name())
            }
            Target::Shape(Shape::Scalar(
                Scalar::String | Scalar::Boolean | Scalar::Int32 | Scalar::Int64 | Scalar::Double,
            )) => format!("unrecognized type: {}", self.type_name()),
            Target::Shape(_) | Target::Any => return None,
        })
    }

    fn scalar(self) -> Expected {
        match self {
            Target::Any | Target::Shape(Shape::Any) => Expected::Anything,
            Target::Shape(Shape::Scalar(scalar)) => Expected::Scalar(*scalar),
            Target::Root(_) | Target::Shape(_) => Expected::Container,
        }
    }
}

/// The members of a JSON object: the fields of a type, or values of one type under any names.
enum MapOf {
    Fields(&'static TypeDef),
    Values(Target),
}

enum Expected {
    Anything,
    Scalar(Scalar),
    Container,
}

/// Reads one value.
pub(super) struct TreeSeed<'c, 'p> {
    pub(super) target: Target,
    pub(super) cx: &'c mut Context,
    pub(super) at: &'p Location<'p>,
}

impl<'de> DeserializeSeed<'de> for TreeSeed<'_, '_> {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Tree, D::Error> {
        let counted = self.cx.budget.value();
        self.cx.spend(counted)?;
        match self.target {
            Target::Shape(Shape::Scalar(Scalar::Bytes)) => {
                source.deserialize_newtype_struct(BASE64_TEXT, self)
            }
            _ => source.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for TreeSeed<'_, '_> {
    type Value = Tree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.target.type_name())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
        match self.target.scalar() {
            Expected::Anything | Expected::Scalar(Scalar::Boolean) => Ok(Tree::Bool(value)),
            _ => Err(self.mismatch("bool")),
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
        self.number(value.into(), Some(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
        self.number(value.into(), i64::try_from(value).ok())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        match Number::from_f64(value) {
            Some(number) => self.number(number, None),
            None => Err(E::custom("number is not finite")),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Tree, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Tree, E> {
        let counted = self.cx.budget.text(&value);
        self.cx.spend(counted)?;
        match self.target.scalar() {
            Expected::Anything => Ok(Tree::String(value)),
            Expected::Scalar(scalar) if takes_strings(scalar) => Ok(Tree::String(value)),
            _ => Err(self.mismatch("string")),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        match self.target {
            Target::Root(_) => Err(self.mismatch("null")),
            Target::Shape(_) | Target::Any => Ok(Tree::Null),
        }
    }

    fn visit_none<E: Error>(self) -> Result<Tree, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, source: D) -> Result<Tree, D::Error> {
        source.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, source: D) -> Result<Tree, D::Error> {
        source.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Tree, A::Error> {
        let item = match self.target {
            Target::Any | Target::Shape(Shape::Any) => Target::Any,
            Target::Shape(Shape::List { item, .. }) => Target::Shape(item),
            _ => return Err(self.mismatch("array")),
        };
        self.cx.enter(self.at)?;
        read_list(items, item, self.cx, self.at)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Tree, A::Error> {
        let values = match self.target {
            Target::Root(def) => MapOf::Fields(def),
            Target::Shape(Shape::Object(def)) => MapOf::Fields(def),
            Target::Shape(Shape::Map { value, .. }) => MapOf::Values(Target::Shape(value)),
            Target::Any | Target::Shape(Shape::Any) => MapOf::Values(Target::Any),
            Target::Shape(_) => return Err(self.mismatch("object")),
        };
        self.cx.enter(self.at)?;
        match values {
            MapOf::Fields(def) => {
                let counted = self.cx.budget.object(def);
                self.cx.spend(counted)?;
                read_object(entries, def, self.cx, self.at)
            }
            MapOf::Values(value) => read_map(entries, value, self.cx, self.at),
        }
    }
}

impl TreeSeed<'_, '_> {
    /// `integer` is the value of a number that is written as a whole number and fits 64 bits.
    fn number<E: Error>(self, number: Number, integer: Option<i64>) -> Result<Tree, E> {
        let fits = match self.target.scalar() {
            // However it is written, so that equal values are equal.
            Expected::Scalar(Scalar::Double) => return Ok(number.as_f64().into()),
            Expected::Anything | Expected::Scalar(Scalar::Quantity) => true,
            Expected::Scalar(Scalar::Int64) => integer.is_some(),
            Expected::Scalar(Scalar::Int32 | Scalar::IntOrString) => {
                integer.is_some_and(|value| i32::try_from(value).is_ok())
            }
            Expected::Scalar(_) | Expected::Container => return Err(self.mismatch("number")),
        };
        if fits { Ok(Tree::Number(number)) } else { Err(self.mismatch(&format!("number {number}"))) }
    }

    fn mismatch<E: Error>(self, found: &str) -> E {
        let location = match self.target {
            // The reference server has readers for these types that do not know the location.
            Target::Shape(Shape::Scalar(
                Scalar::Time | Scalar::MicroTime | Scalar::Duration | Scalar::Quantity | Scalar::IntOrString,
            )) => "value".to_owned(),
            _ => self.at.in_type_error(),
        };
        let what = format!("{found} into Go {location} of type {}", self.target.type_name());
        let restored = self.target.restored_from(found);
        self.cx.fail(DecodeError::Type { what, restored })
    }
}

fn read_list<'de, A: SeqAccess<'de>>(
    mut items: A,
    item: Target,
    cx: &mut Context,
    at: &Location<'_>,
) -> Result<Tree, A::Error> {
    let mut list = Vec::new();
    loop {
        let location = at.index(list.len());
        let Some(value) = items.next_element_seed(TreeSeed { target: item, cx, at: &location })? else {
            return Ok(Tree::Array(list));
        };
        list.push(or_zero(value, item));
    }
}

fn read_map<'de, A: MapAccess<'de>>(
    mut entries: A,
    value: Target,
    cx: &mut Context,
    at: &Location<'_>,
) -> Result<Tree, A::Error> {
    let mut map = TreeMap::new();
    while let Some(key) = entries.next_key::<String>()? {
        let location = at.key(&key);
        // Mostly names come in order: a name after the last one is new.
        let is_last = map.keys().next_back().is_none_or(|last| *last < key);
        if !is_last && map.contains_key(&key) {
            cx.report(StrictError::Duplicate, &location);
        }
        let counted = cx.budget.entry(map.len(), &key);
        cx.spend(counted)?;
        let read = entries.next_value_seed(TreeSeed { target: value, cx, at: &location })?;
        map.insert(key, or_zero(read, value));
    }
    Ok(Tree::Object(map))
}

fn read_object<'de, A: MapAccess<'de>>(
    mut entries: A,
    def: &'static TypeDef,
    cx: &mut Context,
    at: &Location<'_>,
) -> Result<Tree, A::Error> {
    let mut map = TreeMap::new();
    let mut seen = Seen::default();
    while let Some(name) = entries.next_key::<String>()? {
        let location = at.field(def, &name);
        let Some(field) = known(def, at, &name) else {
            cx.report(StrictError::Unknown, &location);
            entries.next_value::<IgnoredAny>()?;
            continue;
        };
        if !seen.insert(field.index) {
            cx.report(StrictError::Duplicate, &location);
        }
        let counted = cx.budget.entry(map.len(), &name);
        cx.spend(counted)?;
        let target = Target::Shape(field.shape);
        let value = entries.next_value_seed(TreeSeed { target, cx, at: &location })?;
        if value.is_null() && !field.nullable {
            map.remove(&name);
        } else {
            map.insert(name, value);
        }
    }
    if cx.absent == Absent::Null {
        for field in def.fields.iter().filter(|field| field.null_when_absent) {
            map.entry(field.name.to_owned()).or_insert(Tree::Null);
        }
    }
    Ok(Tree::Object(map))
}

struct Known {
    index: usize,
    shape: &'static Shape,
    nullable: bool,
}

/// A field of `def`; in the top-level object also `apiVersion` and `kind`.
fn known(def: &'static TypeDef, at: &Location<'_>, name: &str) -> Option<Known> {
    static NAME_OF_TYPE: Shape = Shape::Scalar(Scalar::String);
    if let Some(index) = def.position(name) {
        let field = &def.fields[index];
        return Some(Known { index, shape: &field.shape, nullable: field.nullable });
    }
    let index = match name {
        "apiVersion" if at.is_root() => usize::MAX,
        "kind" if at.is_root() => usize::MAX - 1,
        _ => return None,
    };
    Some(Known { index, shape: &NAME_OF_TYPE, nullable: false })
}

/// The fields of one object that have been read: a bit for each, and a set for the later fields of very large
/// types.
#[derive(Default)]
struct Seen {
    low: u128,
    high: BTreeSet<usize>,
}

impl Seen {
    /// Adds a field. Returns whether it is new.
    fn insert(&mut self, index: usize) -> bool {
        let Some(bit) = u32::try_from(index).ok().and_then(|shift| 1_u128.checked_shl(shift)) else {
            return self.high.insert(index);
        };
        let new = self.low & bit == 0;
        self.low |= bit;
        new
    }
}

/// The meaning of `null` as a list item or map value: the empty value of its type.
fn or_zero(value: Tree, target: Target) -> Tree {
    let (Tree::Null, Target::Shape(shape)) = (&value, target) else { return value };
    match shape {
        Shape::Scalar(Scalar::String | Scalar::Bytes) => Tree::from(""),
        Shape::Scalar(Scalar::Boolean) => Tree::from(false),
        Shape::Scalar(Scalar::Int32 | Scalar::Int64 | Scalar::Double | Scalar::IntOrString) => Tree::from(0),
        Shape::Scalar(Scalar::Duration) => Tree::from("0s"),
        Shape::Scalar(Scalar::Quantity) => Tree::from("0"),
        // The zero time is written as null.
        Shape::Scalar(Scalar::Time | Scalar::MicroTime) | Shape::Any => value,
        Shape::Object(_) | Shape::Map { .. } => Tree::Object(TreeMap::new()),
        Shape::List { .. } => Tree::Array(Vec::new()),
    }
}

fn takes_strings(scalar: Scalar) -> bool {
    match scalar {
        Scalar::Boolean | Scalar::Int32 | Scalar::Int64 | Scalar::Double => false,
        Scalar::String
        | Scalar::Bytes
        | Scalar::Time
        | Scalar::MicroTime
        | Scalar::Duration
        | Scalar::Quantity
        | Scalar::IntOrString => true,
    }
}

fn shape_type_name(shape: &'static Shape) -> Cow<'static, str> {
    match shape {
        Shape::Scalar(scalar) => match scalar {
            Scalar::Boolean => "bool",
            Scalar::Int32 | Scalar::IntOrString => "int32",
            Scalar::Int64 => "int64",
            Scalar::Double => "float64",
            Scalar::Bytes => "[]uint8",
            Scalar::String | Scalar::Time | Scalar::MicroTime | Scalar::Duration | Scalar::Quantity => {
                "string"
            }
        }
        .into(),
        Shape::Object(def) => object_type_name(def).into(),
        Shape::List { item, .. } => format!("[]{}", shape_type_name(item)).into(),
        Shape::Map { value, .. } => format!("map[string]{}", shape_type_name(value)).into(),
        Shape::Any => "interface {}".into(),
    }
}

/// `v1.ConfigMap` from `core.v1.ConfigMap`.
fn object_type_name(def: &'static TypeDef) -> String {
    match def.name.rsplit('.').nth(1) {
        Some(version) => format!("{version}.{}", def.short_name),
        None => def.short_name.to_owned(),
    }
}
