//! Requests without credentials.

/// Which requests without credentials are made by `system:anonymous`; the others are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Anonymous {
    /// None.
    #[default]
    Nowhere,
    /// All.
    Everywhere,
    /// Those with exactly one of these paths.
    At(Vec<String>),
}

impl Anonymous {
    /// Whether a request with this path needs no credentials.
    pub fn admits(&self, path: &str) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Everywhere => true,
            Self::At(paths) => paths.iter().any(|admitted| admitted == path),
        }
    }
}
