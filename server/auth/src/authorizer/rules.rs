//! What somebody may do, listed: for display, never to decide by.

/// What authorizers can tell about one user in one namespace. Rules only add; they are in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// What may be done to resources.
    pub resource: Vec<ResourceRule>,
    /// What may be done to other paths.
    pub path: Vec<PathRule>,
    /// Why there may be more than that; empty when this is all.
    pub problems: Vec<String>,
}

impl Rules {
    /// What an authorizer answers that decides case by case.
    pub fn unknown() -> Self {
        Rules {
            problems: vec!["an authorizer does not support user rule resolution".to_owned()],
            ..Self::default()
        }
    }

    /// Adds what another authorizer says.
    pub fn extend(&mut self, other: Rules) {
        self.resource.extend(other.resource);
        self.path.extend(other.path);
        self.problems.extend(other.problems);
    }
}

/// Something that may be done to resources. `*` is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceRule {
    /// `get`, `list` ...
    pub verbs: Vec<String>,
    /// `""` for the core group.
    pub groups: Vec<String>,
    /// Plural names, subresources as `pods/log`.
    pub resources: Vec<String>,
    /// The only objects for which it holds; empty for all.
    pub names: Vec<String>,
}

/// Something that may be done to paths that are no resources. `*` is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathRule {
    /// HTTP methods in small letters.
    pub verbs: Vec<String>,
    /// Paths; the last step may be `*`.
    pub paths: Vec<String>,
}
