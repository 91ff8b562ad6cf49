//! Why a decision was made, as clients see it.

use std::{borrow::Cow, ops::Deref, sync::Arc};

/// A text, empty where there is nothing to say. To clone a shared one takes no memory, so that an authorizer
/// can keep the reasons of its rules.
#[derive(Clone, Debug)]
pub enum Reason {
    /// A text of the program.
    Constant(&'static str),
    /// A text that is kept with a rule.
    Shared(Arc<str>),
    /// A text of this decision.
    Own(String),
}

impl Default for Reason {
    fn default() -> Self {
        Self::Constant("")
    }
}

impl Deref for Reason {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Constant(text) => text,
            Self::Shared(text) => text,
            Self::Own(text) => text,
        }
    }
}

impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Reason {}

impl From<&'static str> for Reason {
    fn from(text: &'static str) -> Self {
        Self::Constant(text)
    }
}

impl From<Arc<str>> for Reason {
    fn from(text: Arc<str>) -> Self {
        Self::Shared(text)
    }
}

impl From<&Reason> for Cow<'static, str> {
    fn from(reason: &Reason) -> Self {
        match reason {
            Reason::Constant(text) => Cow::Borrowed(text),
            other => Cow::Owned(String::from(&**other)),
        }
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::Own(text)
    }
}
