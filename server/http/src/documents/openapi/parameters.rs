//! Every parameter that an operation can have, and which operation has which.

use serde::Serialize;

/// A parameter as it is published.
#[derive(Serialize)]
pub(super) struct Parameter {
    name: &'static str,
    #[serde(rename = "in")]
    location: &'static str,
    description: &'static str,
    #[serde(skip_serializing_if = "is_false")]
    required: bool,
    schema: Schema,
}

#[derive(Serialize)]
struct Schema {
    #[serde(rename = "type")]
    kind: &'static str,
}

/// In the path of an item.
pub(super) static NAME: Parameter = in_path("name", "Name of the object.");
/// In the path of what is in a namespace.
pub(super) static NAMESPACE: Parameter = in_path("namespace", "Namespace of the objects.");
/// On every path.
pub(super) static PRETTY: Parameter =
    string("pretty", "If true, the answer is indented. The default depends on who asks.");

/// Of create and update.
pub(super) static WRITE: &[&Parameter] = &[&DRY_RUN, &FIELD_MANAGER, &FIELD_VALIDATION];
/// Of patch.
pub(super) static PATCH: &[&Parameter] = &[&DRY_RUN, &FIELD_MANAGER, &FIELD_VALIDATION, &FORCE];
/// Of delete.
pub(super) static DELETE: &[&Parameter] = &[&DRY_RUN, &GRACE_PERIOD_SECONDS, &PROPAGATION_POLICY];
/// Of list and watch.
pub(super) static LIST: &[&Parameter] = &[
    &ALLOW_WATCH_BOOKMARKS,
    &CONTINUE,
    &FIELD_SELECTOR,
    &LABEL_SELECTOR,
    &LIMIT,
    &RESOURCE_VERSION,
    &RESOURCE_VERSION_MATCH,
    &SEND_INITIAL_EVENTS,
    &TIMEOUT_SECONDS,
    &WATCH,
];
/// Of deletecollection.
pub(super) static DELETE_COLLECTION: &[&Parameter] = &[
    &CONTINUE,
    &DRY_RUN,
    &FIELD_SELECTOR,
    &GRACE_PERIOD_SECONDS,
    &LABEL_SELECTOR,
    &LIMIT,
    &PROPAGATION_POLICY,
    &RESOURCE_VERSION,
    &RESOURCE_VERSION_MATCH,
    &SEND_INITIAL_EVENTS,
    &TIMEOUT_SECONDS,
];

static ALLOW_WATCH_BOOKMARKS: Parameter =
    boolean("allowWatchBookmarks", "Asks for BOOKMARK events on a watch.");
static CONTINUE: Parameter = string("continue", "Token of the page before, to get the one behind it.");
static DRY_RUN: Parameter =
    string("dryRun", "With the value All, the request is processed but nothing is stored.");
static FIELD_MANAGER: Parameter =
    string("fieldManager", "Who makes the change, for the record of who set which field.");
static FIELD_SELECTOR: Parameter = string("fieldSelector", "Only objects whose fields match.");
static FIELD_VALIDATION: Parameter = string(
    "fieldValidation",
    "What happens to unknown and duplicate fields: Ignore drops them, Warn drops them with a warning, Strict \
     refuses the request. The default is Warn.",
);
static FORCE: Parameter = boolean("force", "Of an apply: take over fields that others have set.");
static GRACE_PERIOD_SECONDS: Parameter =
    integer("gracePeriodSeconds", "How long the object may take to end. 0 deletes it at once.");
static LABEL_SELECTOR: Parameter = string("labelSelector", "Only objects whose labels match.");
static LIMIT: Parameter = integer("limit", "At most so many objects; the rest is got by continue.");
static PROPAGATION_POLICY: Parameter = string(
    "propagationPolicy",
    "What happens to dependents: Orphan leaves them, Background deletes them afterwards, Foreground before.",
);
static RESOURCE_VERSION: Parameter =
    string("resourceVersion", "Which version of the data the answer is made from.");
static RESOURCE_VERSION_MATCH: Parameter =
    string("resourceVersionMatch", "How resourceVersion is meant: Exact or NotOlderThan.");
static SEND_INITIAL_EVENTS: Parameter =
    boolean("sendInitialEvents", "Starts a watch with an event for each object that exists.");
static TIMEOUT_SECONDS: Parameter = integer("timeoutSeconds", "Ends the request after so many seconds.");
static WATCH: Parameter = boolean("watch", "Answers with a stream of changes instead of a list.");

const fn in_path(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, location: "path", description, required: true, schema: Schema { kind: "string" } }
}

const fn string(name: &'static str, description: &'static str) -> Parameter {
    in_query(name, description, "string")
}

const fn boolean(name: &'static str, description: &'static str) -> Parameter {
    in_query(name, description, "boolean")
}

const fn integer(name: &'static str, description: &'static str) -> Parameter {
    in_query(name, description, "integer")
}

const fn in_query(name: &'static str, description: &'static str, kind: &'static str) -> Parameter {
    Parameter { name, location: "query", description, required: false, schema: Schema { kind } }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_false(flag: &bool) -> bool {
    !flag
}
