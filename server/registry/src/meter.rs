//! What verbs tell about their work, for metrics.

use std::time::Duration;

use orch_runtime::resource_def::Verb;

use crate::catalog::ServedResource;

/// Is told about the work of verbs. It is called on their threads, so it counts and does not wait.
pub trait Meter: Send + Sync {
    /// The store has answered a write after so long. `operation` is `create`, `update` or `delete`.
    fn committed(
        &self,
        resource: &ServedResource,
        operation: &'static str,
        took: Duration,
        is_committed: bool,
    );

    /// A list or a page of one was made.
    fn listed(&self, resource: &ServedResource, listed: Listed);

    /// A read has waited for the version that it is to show.
    fn waited(&self, resource: &ServedResource, waited: Waited);

    /// Plugins have looked at a write for so long.
    fn admitted(&self, admission: Admission, took: Duration);

    /// An update or a patch was compared with the current object, to see whether it changes anything.
    fn compared(&self, differs: bool, took: Duration);

    /// The server made a request to itself, in its own name.
    fn served_itself(&self, resource: &ServedResource, subresource: &'static str, verb: Verb, is_apply: bool);
}

/// How a list was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Objects that an index or the collection offered.
    pub fetched: usize,
    /// Those of them that selectors looked at.
    pub evaluated: usize,
    /// Those that were selected.
    pub returned: usize,
    /// The index that offered them; see [`read::index`](crate::read::index).
    pub index: Option<u16>,
}

/// How a read waited for its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// How long.
    pub took: Duration,
    /// Whether the version came.
    pub is_there: bool,
    /// Whether it is a list of the newest version.
    pub is_consistent_list: bool,
}

/// What admission was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The number of one plugin; none where all were asked.
    pub plugin: Option<usize>,
    /// To change the object, or to judge it.
    pub step: Step,
    /// `Create`, `Update` or `Delete`.
    pub operation: Verb,
    /// Whether the write was refused.
    pub is_refused: bool,
}

/// A part of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Plugins may change the object.
    Mutate,
    /// Plugins may refuse it.
    Validate,
}
