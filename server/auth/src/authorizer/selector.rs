//! Selectors of a request: they can only narrow what is asked for, so an authorizer may ignore them.

/// A requirement for a field or a label of the objects that a request is about. All of a request must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The path of the field, or the label.
    pub key: String,
    /// What is required of it.
    pub operator: Operator,
    /// What it is compared with; empty for `Exists` and `DoesNotExist`.
    pub values: Vec<String>,
}

/// What is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It has one of the values.
    In,
    /// It has none of the values, or is missing.
    NotIn,
    /// It is there.
    Exists,
    /// It is missing.
    DoesNotExist,
}

impl Operator {
    /// The name in an access review.
    pub fn name(self) -> &'static str {
        match self {
            Self::In => "In",
            Self::NotIn => "NotIn",
            Self::Exists => "Exists",
            Self::DoesNotExist => "DoesNotExist",
        }
    }

    /// The operator of that name in an access review.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "In" => Some(Self::In),
            "NotIn" => Some(Self::NotIn),
            "Exists" => Some(Self::Exists),
            "DoesNotExist" => Some(Self::DoesNotExist),
            _ => None,
        }
    }
}
