//! An expression as it was written: the result of the parser, macros recognized, types unknown.

use crate::span::Span;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it stands.
    pub at: Span,
    /// How many levels of terms there are, with this one.
    pub(crate) depth: usize,
}

/// The kinds of terms.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A value.
    Literal(Literal),
    /// `name`; an absolute one is written `.name`.
    Name {
        /// The name, without the dot.
        name: String,
        /// Whether it never means a variable of a macro.
        is_absolute: bool,
    },
    /// `operand.field` and `operand.?field`.
    Select {
        /// What has the field.
        operand: Box<Node>,
        /// The name of the field.
        field: String,
        /// Whether the result is an optional value.
        is_optional: bool,
    },
    /// `has(operand.field)`.
    Has {
        /// What may have the field.
        operand: Box<Node>,
        /// The name of the field.
        field: String,
    },
    /// `operand[index]` and `operand[?index]`.
    Index {
        /// A list or map.
        operand: Box<Node>,
        /// A position or key.
        index: Box<Node>,
        /// Whether the result is an optional value.
        is_optional: bool,
    },
    /// `function(arguments)`, `receiver.function(arguments)`, or an operator, which is a function with a name
    /// such as `_+_`.
    Call {
        /// Its name.
        function: String,
        /// What it is called on.
        receiver: Option<Box<Node>>,
        /// What it is called with.
        arguments: Vec<Node>,
    },
    /// All operands of `&&`.
    And(Vec<Node>),
    /// All operands of `||`.
    Or(Vec<Node>),
    /// `condition ? then : otherwise`.
    Conditional(Box<[Node; 3]>),
    /// `[element, ?optional_element]`.
    List(Vec<Element>),
    /// `{key: value, ?key: optional_value}`.
    Map(Vec<Entry>),
    /// `type.Name{...}`: known to the parser, and made by no caller so far.
    Message(String),
    /// A macro that looks at each item of a list or map.
    Fold(Box<Fold>),
    /// `cel.bind(name, value, body)`.
    Bind(Box<Bind>),
    /// `operand.optMap(name, body)` and `operand.optFlatMap(name, body)`.
    OptionalMap(Box<OptionalMap>),
}

/// A value in the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.0`
    Double(f64),
    /// `"text"`
    Text(String),
    /// `b"bytes"`
    Bytes(Vec<u8>),
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Element<N = Node> {
    /// Its value; an optional one is left out if it is empty.
    pub value: N,
    /// Whether it is optional.
    pub is_optional: bool,
}

/// An entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<N = Node> {
    /// The key.
    pub key: N,
    /// The value; an entry with an optional one is left out if it is empty.
    pub value: N,
    /// Whether the value is optional.
    pub is_optional: bool,
}

/// What a macro makes of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// `all`: the body holds for each item.
    All,
    /// `exists`: it holds for some item.
    Exists,
    /// `exists_one`: it holds for exactly one item.
    ExistsOne,
    /// `filter`: a list of the items for which the body holds.
    Filter,
    /// `map`, `transformList`: a list of what the body makes of each item.
    Map,
    /// `transformMap`: a map with the same keys and with values that the body makes.
    TransformMap,
    /// `transformMapEntry`: a map of the entries that the body makes, a map for each item.
    TransformMapEntry,
}

/// A macro over the items of a list or map.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// Which.
    pub kind: FoldKind,
    /// The list or map.
    pub range: Node,
    /// One name, for the item of a list or the key of a map; or two, for index and item, or key and value.
    pub variables: Vec<String>,
    /// Items for which this does not hold are left out.
    pub filter: Option<Node>,
    /// What is evaluated for each item.
    pub body: Node,
}

/// A name for a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Bind {
    /// The name.
    pub variable: String,
    /// The value.
    pub value: Node,
    /// Where the name is known.
    pub body: Node,
}

/// A macro on an optional value.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionalMap {
    /// The optional value.
    pub operand: Node,
    /// The name of what is in it.
    pub variable: String,
    /// What is made of that.
    pub body: Node,
    /// Whether the body makes an optional value itself.
    pub is_flat: bool,
}
