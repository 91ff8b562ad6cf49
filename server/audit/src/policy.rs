//! Which requests are recorded, and how much of them.
//!
//! The first rule that matches a request decides. A request that no rule matches is not recorded.

mod file;
mod rule;

pub use file::read;
pub use rule::{GroupResources, Rule};

/// How much is recorded of a request. Each level has all of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    None,
    /// Who, what, when and the outcome.
    Metadata,
    /// The object that was sent too.
    Request,
    /// The object that was answered too.
    RequestResponse,
}

impl Level {
    /// Every level, in order.
    pub const ALL: [Level; 4] = [Level::None, Level::Metadata, Level::Request, Level::RequestResponse];

    /// As in policies and events.
    pub fn name(self) -> &'static str {
        match self {
            Level::None => "None",
            Level::Metadata => "Metadata",
            Level::Request => "Request",
            Level::RequestResponse => "RequestResponse",
        }
    }
}

/// A moment of a request at which an event is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The caller is known, and nothing was done yet.
    RequestReceived,
    /// The head of the answer is made and its body goes on: watches only.
    ResponseStarted,
    /// Nothing more will be answered.
    ResponseComplete,
    /// The server failed with a panic, instead of a complete answer.
    Panic,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Stage; 4] =
        [Stage::RequestReceived, Stage::ResponseStarted, Stage::ResponseComplete, Stage::Panic];

    /// As in policies and events.
    pub fn name(self) -> &'static str {
        match self {
            Stage::RequestReceived => "RequestReceived",
            Stage::ResponseStarted => "ResponseStarted",
            Stage::ResponseComplete => "ResponseComplete",
            Stage::Panic => "Panic",
        }
    }
}

/// A set of stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages(u8);

impl Stages {
    /// Whether the stage is in the set.
    pub fn contains(self, stage: Stage) -> bool {
        self.0 & 1 << stage as u8 != 0
    }

    /// What is in one of two sets.
    #[must_use]
    pub fn and(self, other: Stages) -> Stages {
        Stages(self.0 | other.0)
    }
}

impl FromIterator<Stage> for Stages {
    fn from_iter<I: IntoIterator<Item = Stage>>(stages: I) -> Self {
        Stages(stages.into_iter().fold(0, |set, stage| set | 1 << stage as u8))
    }
}

/// What rules look at.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// Name and groups of the caller; `None` if it was not authenticated.
    pub user: Option<(&'a str, &'a [String])>,
    /// `get`, `list`, `create` ...; for a path, the HTTP method in lower case.
    pub verb: &'a str,
    /// The resource or path.
    pub target: Target<'a>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// An API resource.
    Resource(ResourceTarget<'a>),
    /// Another path, such as `/healthz`.
    Path(&'a str),
}

/// A resource, or one object of it. Parts that do not apply are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceTarget<'a> {
    /// Empty for the core group.
    pub group: &'a str,
    /// `v1` ...
    pub version: &'a str,
    /// The plural name.
    pub resource: &'a str,
    /// `status`, `scale` ...
    pub subresource: &'a str,
    /// Empty for cluster-scoped resources and for requests across namespaces.
    pub namespace: &'a str,
    /// Empty for requests about a collection.
    pub name: &'a str,
}

/// What is recorded of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How much.
    pub level: Level,
    /// At which stages nothing is.
    pub omitted: Stages,
    /// Whether objects are recorded without their managed fields.
    pub omits_managed_fields: bool,
}

/// The rules of a file.
#[derive(Clone, Debug)]
pub struct Policy {
    /// In order; there is at least one.
    pub rules: Vec<Rule>,
    /// For all rules.
    pub omitted: Stages,
    /// Where a rule does not say.
    pub omits_managed_fields: bool,
}

impl Policy {
    /// What is recorded of a request.
    pub fn judge(&self, request: &Attributes<'_>) -> Verdict {
        let rule = self.rules.iter().find(|rule| rule.matches(request));
        Verdict {
            level: rule.map_or(Level::None, |rule| rule.level),
            omitted: rule.map_or(self.omitted, |rule| rule.omitted.and(self.omitted)),
            omits_managed_fields: rule
                .and_then(|rule| rule.omits_managed_fields)
                .unwrap_or(self.omits_managed_fields),
        }
    }
}
