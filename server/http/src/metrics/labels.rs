//! The labels of a request's series, made from the resource table and fixed lists only.

use std::{
    borrow::Cow,
    hash::{Hash, Hasher},
    ptr,
};

use http::Method;
use orch_runtime::{
    resource_def::{ResourceDef, SubresourceDef, Verb},
    vocabulary::Vocabulary,
};

/// The label that only some metrics have.
pub(super) const DRY_RUN: &str = "dry_run";

/// The label names, in the order of [`RequestLabels::values`].
pub(super) const NAMES: &[&str] =
    &["verb", DRY_RUN, "group", "version", "resource", "subresource", "scope", "component"];

/// The label names without `dry_run`. The last one is `component`.
pub(super) fn without_dry_run() -> Vec<&'static str> {
    NAMES.iter().copied().filter(|name| *name != DRY_RUN).collect()
}

/// The paths outside the resources that have series of their own.
/// A path below one of them counts as that one.
const PATHS: &[&str] = &[
    "/.well-known/openid-configuration",
    "/apis",
    "/api",
    "/healthz",
    "/livez",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/openid/v1/jwks",
    "/readyz",
    "/version",
];

/// Stands for every value that is on no list.
const OTHER: &str = "other";

/// The value of the `dryRun` parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DryRun {
    /// No value.
    #[default]
    Absent,
    /// `All`.
    All,
    /// Something else.
    Invalid,
}

/// The labels of a request. Requests with the same labels are counted together.
#[derive(Clone, Copy, Debug)]
pub struct RequestLabels {
    verb: &'static str,
    dry_run: DryRun,
    scope: &'static str,
    subject: Subject,
}

#[derive(Clone, Copy, Debug)]
enum Subject {
    Resource { def: &'static ResourceDef, subresource: &'static str },
    Path(&'static str),
}

impl RequestLabels {
    /// A request for a served resource. `namespace` and `name` are those of the path, empty where there is
    /// none.
    pub fn resource(
        def: &'static ResourceDef,
        subresource: Option<&'static SubresourceDef>,
        verb: Verb,
        namespace: &str,
        name: &str,
    ) -> Self {
        let subresource = subresource.map_or("", |subresource| subresource.name);
        RequestLabels {
            verb: verb_label(verb),
            dry_run: DryRun::Absent,
            scope: if !name.is_empty() || verb == Verb::Create {
                "resource"
            } else if namespace.is_empty() {
                "cluster"
            } else {
                "namespace"
            },
            subject: Subject::Resource { def, subresource },
        }
    }

    /// A request for any other path, known or not.
    pub fn path(method: &Method, path: &str) -> Self {
        let known = if path == "/" {
            Some("/")
        } else {
            PATHS.iter().copied().find(|known| {
                path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        RequestLabels {
            verb: method_label(method),
            dry_run: DryRun::Absent,
            scope: "",
            subject: Subject::Path(known.unwrap_or(OTHER)),
        }
    }

    /// A request below a group version for something that is not served.
    pub fn unserved(method: &Method) -> Self {
        RequestLabels { subject: Subject::Path(OTHER), ..Self::path(method, "/") }
    }

    /// The same, for a PATCH whose content type says apply.
    pub fn as_apply(self) -> Self {
        RequestLabels { verb: "APPLY", ..self }
    }

    /// The same, with a `dryRun` parameter.
    pub fn with_dry_run(self, dry_run: DryRun) -> Self {
        RequestLabels { dry_run, ..self }
    }

    /// The values, in the order of [`NAMES`].
    pub(super) fn values(&self, vocabulary: &Vocabulary) -> [Cow<'static, str>; NAMES.len()] {
        let dry_run = match self.dry_run {
            DryRun::Absent => "",
            DryRun::All => "All",
            DryRun::Invalid => "invalid",
        };
        let [group, version, resource, subresource] = self.names_of_resource(vocabulary);
        [
            self.verb.into(),
            dry_run.into(),
            group,
            version,
            resource,
            subresource,
            self.scope.into(),
            "apiserver".into(),
        ]
    }

    /// The values without that of `dry_run`.
    pub(super) fn values_without_dry_run(
        &self,
        vocabulary: &Vocabulary,
    ) -> impl Iterator<Item = Cow<'static, str>> {
        let named = NAMES.iter().zip(self.values(vocabulary));
        named.filter(|(name, _)| **name != DRY_RUN).map(|(_, value)| value)
    }

    /// Whether the size of the answer is measured: of reads of objects.
    pub(super) fn has_size(&self) -> bool {
        matches!(self.verb, "GET" | "LIST") && matches!(self.subject, Subject::Resource { .. })
    }

    /// Group, version, resource and sub-resource; the last one holds the path of requests outside the
    /// resources.
    fn names_of_resource(&self, vocabulary: &Vocabulary) -> [Cow<'static, str>; 4] {
        match self.subject {
            Subject::Resource { def, subresource } => {
                [vocabulary.group(def.group), def.version.into(), def.plural.into(), subresource.into()]
            }
            Subject::Path(path) => ["".into(), "".into(), "".into(), path.into()],
        }
    }
}

impl PartialEq for RequestLabels {
    fn eq(&self, other: &Self) -> bool {
        is_same(self.verb, other.verb)
            && self.dry_run == other.dry_run
            && is_same(self.scope, other.scope)
            && self.subject == other.subject
    }
}

impl Eq for RequestLabels {}

impl PartialEq for Subject {
    /// Each kind has one static row, so comparing addresses is enough.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Subject::Resource { def, subresource },
                Subject::Resource { def: other, subresource: other_subresource },
            ) => ptr::eq(*def, *other) && is_same(subresource, other_subresource),
            (Subject::Path(path), Subject::Path(other)) => is_same(path, other),
            _ => false,
        }
    }
}

impl Eq for Subject {}

/// Equal texts nearly always have one address, because they come from one place.
fn is_same(text: &'static str, other: &'static str) -> bool {
    ptr::eq(text, other) || text == other
}

/// Every request looks its series up. Addresses and lengths tell nearly all labels apart, and hashing them is
/// faster than hashing text.
impl Hash for RequestLabels {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (address, length) = match self.subject {
            Subject::Resource { def, subresource } => (ptr::from_ref(def).addr(), subresource.len()),
            Subject::Path(path) => (0, path.len()),
        };
        (address, length | self.verb.len() << 16 | self.scope.len() << 32).hash(state);
    }
}

pub(super) fn verb_label(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "POST",
        Verb::Delete => "DELETE",
        Verb::DeleteCollection => "DELETECOLLECTION",
        Verb::Get => "GET",
        Verb::List => "LIST",
        Verb::Patch => "PATCH",
        Verb::Update => "PUT",
        Verb::Watch => "WATCH",
    }
}

fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" | "HEAD" => "GET",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "CONNECT" => "CONNECT",
        _ => OTHER,
    }
}
