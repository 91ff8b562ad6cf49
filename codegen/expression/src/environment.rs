//! What expressions may use: variables with their types, and all functions.

use std::{collections::HashMap, sync::Arc};

use crate::{
    function::{self, Overload},
    limits::Limits,
    types::Type,
};

/// Names of types that are values in expressions, as in `type(x) == int`.
const TYPE_NAMES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "int",
    "NamedFormat",
    "net.URL",
    "list",
    "map",
    "net.CIDR",
    "net.IP",
    "null_type",
    "optional_type",
    "Quantity",
    "string",
    "type",
    "uint",
];

/// What expressions are compiled against. Make one and compile all expressions of a kind with it.
#[derive(Clone)]
pub struct Environment {
    variables: Vec<(String, Type)>,
    functions: Arc<HashMap<&'static str, Vec<Arc<Overload>>>>,
    limits: Limits,
}

impl Default for Environment {
    fn default() -> Self {
        Self::new()
    }
}

impl Environment {
    /// All functions, no variables, the default limits.
    pub fn new() -> Self {
        Environment { variables: Vec::new(), functions: Arc::new(function::all()), limits: Limits::default() }
    }

    /// With one more variable. Its name may have dots; the longest name that fits is meant.
    #[must_use]
    pub fn with_variable(mut self, name: &str, of: Type) -> Self {
        self.variables.push((name.to_owned(), of));
        self
    }

    /// With other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits of each expression.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The variables with their types.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &Type)> {
        self.variables.iter().map(|(name, of)| (name.as_str(), of))
    }

    /// The names of all functions; operators have names such as `_+_`.
    pub fn function_names(&self) -> impl Iterator<Item = &'static str> {
        self.functions.keys().copied()
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&(String, Type)> {
        self.variables.iter().find(|(known, _)| known == name)
    }

    pub(crate) fn function(&self, name: &str) -> Option<&[Arc<Overload>]> {
        self.functions.get(name).map(Vec::as_slice)
    }

    /// The type that a name stands for, as a value.
    pub(crate) fn type_name(name: &str) -> Option<&'static str> {
        TYPE_NAMES.iter().copied().find(|known| *known == name)
    }
}
