//! Lists of what a user may do: for display, not for decisions.

/// What authorizers report about one user in one namespace. Rules only add permissions; their order has no
/// meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Permissions for resources.
    pub resource: Vec<ResourceRule>,
    /// Permissions for other paths.
    pub path: Vec<PathRule>,
    /// Why the list may be incomplete; empty if it is complete.
    pub problems: Vec<String>,
}

impl Rules {
    /// The answer of an authorizer that cannot list its rules.
    pub fn unknown() -> Self {
        Rules {
            problems: vec!["an authorizer does not support user rule resolution".to_owned()],
            ..Self::default()
        }
    }

    /// Adds the rules of another authorizer.
    pub fn extend(&mut self, other: Rules) {
        self.resource.extend(other.resource);
        self.path.extend(other.path);
        self.problems.extend(other.problems);
    }
}

/// A permission for resources. `*` means everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceRule {
    /// `get`, `list` ...
    pub verbs: Vec<String>,
    /// `""` for the core group.
    pub groups: Vec<String>,
    /// Plural names, subresources as `pods/log`.
    pub resources: Vec<String>,
    /// The names of the objects that it is limited to; empty means all.
    pub names: Vec<String>,
}

/// A permission for paths that are not resources. `*` means everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathRule {
    /// HTTP methods in lower case.
    pub verbs: Vec<String>,
    /// Paths; the last segment may be `*`.
    pub paths: Vec<String>,
}
