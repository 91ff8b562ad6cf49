//! What operators set: priority levels and flow schemas, free of the form in which they are stored, and
//! where they come from.

/// A priority level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// Its part of the server's seats, in proportion to the shares of all levels.
    pub shares: u32,
    /// How much of its seats others may borrow, 0 to 100.
    pub lendable_percent: u32,
    /// What it does with requests.
    pub kind: LevelKind,
}

/// What a level does with requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelKind {
    /// It runs all of them.
    Exempt,
    /// It runs as many as it has seats for.
    Limited {
        /// How much it may borrow, in percent of its own seats; no limit without it.
        borrowing_percent: Option<u32>,
        /// The queues for the others, which are refused without any.
        queuing: Option<Queuing>,
    },
}

/// The queues of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queuing {
    /// How many there are; at least 1.
    pub queues: u32,
    /// How many a flow can use; at least 1.
    pub hand_size: u32,
    /// How many requests may wait in each while all seats are taken.
    pub length_limit: u32,
}

/// A flow schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaConfig {
    /// Its name.
    pub name: String,
    /// The priority level of what it matches. A schema whose level is missing is ignored.
    pub level: String,
    /// The schema with the lowest one is asked first.
    pub precedence: i32,
    /// What makes two of its requests different flows.
    pub distinguisher: Distinguisher,
    /// It matches where one of them does.
    pub rules: Vec<SubjectRules>,
}

/// What makes two requests of a flow schema different flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinguisher {
    /// Nothing.
    None,
    /// The name of the user.
    User,
    /// The namespace of the request.
    Namespace,
}

/// Matches where one subject does, and one rule for the target of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubjectRules {
    /// The callers.
    pub subjects: Vec<Subject>,
    /// Requests for resources.
    pub resources: Vec<ResourceRule>,
    /// Requests for other paths.
    pub paths: Vec<PathRule>,
}

/// A caller or several. A name may be `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The user of this name.
    User(String),
    /// Members of this group.
    Group(String),
    /// A service account.
    ServiceAccount {
        /// The namespace.
        namespace: String,
        /// The name, or `*` for all of the namespace.
        name: String,
    },
}

/// Requests for resources; all lists have to match, and `*` matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceRule {
    /// `get`, `list` ...
    pub verbs: Vec<String>,
    /// `""` is the core group.
    pub groups: Vec<String>,
    /// `pods`, `pods/status`.
    pub resources: Vec<String>,
    /// Whether requests without a namespace match.
    pub cluster_scope: bool,
    /// The namespaces of the others.
    pub namespaces: Vec<String>,
}

/// Requests for other paths; both lists have to match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathRule {
    /// Methods in lower case, or `*`.
    pub verbs: Vec<String>,
    /// `/healthz`, which stands for what is below it too; `/healthz/*`; `*`.
    pub paths: Vec<String>,
}

/// An object and its uid, which is empty for one that the server relies on and that is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configured<T> {
    /// The object.
    pub object: T,
    /// Its uid.
    pub uid: String,
}

/// All of them at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// In the order of their names.
    pub levels: Vec<Configured<Level>>,
    /// Those whose levels exist.
    pub schemas: Vec<Configured<SchemaConfig>>,
}

/// Where priority levels and flow schemas are kept.
pub trait Source: Send + Sync {
    /// Whether something may have changed since the last [`read`](Source::read).
    fn has_news(&self) -> bool;

    /// All of them, as they are now.
    fn read(&self) -> Configuration;
}
