//! What kind of object a write expects, and how a document that is another one is told.

use std::borrow::Cow;

use orch_machinery::patch::shown::{cannot_unmarshal, json_type};
use orch_runtime::{Tree, field_error::Shown as _, resource_def::BodyKind, type_def::TypeDef};

use crate::{catalog::Catalog, error::ApiError, request::Target};

/// What kind of object a body must hold. A sub-resource may have one of its own.
pub(super) struct Expected<'c> {
    pub(super) kind: &'static str,
    version: &'static str,
    pub(super) api_version: Cow<'c, str>,
    pub(super) type_def: &'static TypeDef,
    /// Further versions of the group that are read as if they were this one.
    pub(super) older: &'static [&'static str],
    catalog: &'c Catalog,
}

/// How a document is not what was expected.
pub(super) enum Mismatch {
    /// It does not say what it is.
    Unrecognized(String),
    /// It is of another kind.
    Kind { kind: String, version: String, why: String },
    /// It is of the kind, in another version.
    Version(String),
}

impl<'c> Expected<'c> {
    pub(super) fn of(catalog: &'c Catalog, target: &'c Target<'_>) -> Self {
        let resource = target.resource;
        match target.subresource.and_then(|subresource| subresource.body) {
            Some(BodyKind { group, version, kind, type_def }) => {
                let api_version = resource.vocabulary.api_version(group, version);
                Expected {
                    kind,
                    version,
                    api_version: Cow::Owned(api_version),
                    type_def,
                    older: &[],
                    catalog,
                }
            }
            None => Expected {
                kind: resource.def.kind,
                version: resource.def.version,
                api_version: Cow::Borrowed(&resource.api_version),
                type_def: resource.def.type_def,
                older: &[],
                catalog,
            },
        }
    }

    /// Absent kind and version are those of the endpoint.
    ///
    /// # Errors
    /// How the document differs.
    pub(super) fn check(&self, tree: &Tree) -> Result<(), Mismatch> {
        if !tree.is_object() {
            let wanted = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
                          Kind string \"json:\\\"kind,omitempty\\\"\" }";
            return Err(no_kind(&cannot_unmarshal(tree, wanted)));
        }
        let (api_version, kind) = (text(tree, "apiVersion")?, text(tree, "kind")?);
        if api_version.matches('/').count() > 1 {
            return Err(Mismatch::Unrecognized(format!("unexpected GroupVersion string: {api_version}")));
        }
        let api_version = if api_version.is_empty() { &self.api_version } else { api_version };
        let kind = if kind.is_empty() { self.kind } else { kind };
        if kind == self.kind && (api_version == self.api_version || self.is_older(api_version)) {
            return Ok(());
        }
        Err(self.mismatch(api_version, kind))
    }

    fn is_older(&self, api_version: &str) -> bool {
        let (group, version) = split(api_version);
        group == split(&self.api_version).0 && self.older.contains(&version)
    }

    fn mismatch(&self, api_version: &str, kind: &str) -> Mismatch {
        let is_served = self
            .catalog
            .resources()
            .any(|served| served.api_version == api_version && served.def.kind == kind);
        let (group, version) = split(api_version);
        if kind == self.kind && (is_served || (!group.is_empty() && group == split(&self.api_version).0)) {
            return Mismatch::Version(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({})",
                self.api_version
            ));
        }
        let why = if is_served {
            format!("converting ({version}.{kind}) to ({}.{}): unknown conversion", self.package(), self.kind)
        } else {
            format!(
                "no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:100\"",
                kind.shown(),
                api_version.shown()
            )
        };
        Mismatch::Kind { kind: kind.to_owned(), version: version.to_owned(), why }
    }

    /// Where the reference has the form of the kind that belongs to no version.
    fn package(&self) -> &str {
        match split(&self.api_version).0.split('.').next() {
            None | Some("") => "core",
            Some(group) => group,
        }
    }

    /// 400 for a body that is of the kind, as far as one can tell, and yet cannot be read.
    pub(super) fn cannot_be_handled(&self, why: &str) -> ApiError {
        self.refused(self.kind, self.version, why)
    }

    /// 400 for a body that is something else. `begin` shows how it begins.
    pub(super) fn refusal(&self, mismatch: Mismatch, begin: impl FnOnce() -> String) -> ApiError {
        match mismatch {
            Mismatch::Unrecognized(why) => ApiError::BadRequest(format!(
                "the object provided is unrecognized (must be of type {}): {why} ({})",
                self.kind,
                begin()
            )),
            Mismatch::Kind { kind, version, why } => self.refused(&kind, &version, &why),
            Mismatch::Version(why) => ApiError::BadRequest(why),
        }
    }

    fn refused(&self, kind: &str, version: &str, why: &str) -> ApiError {
        let version = version.shown();
        ApiError::BadRequest(format!(
            "{kind} in version {version} cannot be handled as a {}: {why}",
            self.kind
        ))
    }
}

impl Mismatch {
    /// What is wrong, as it is told of the result of a patch.
    pub(super) fn why(&self) -> &str {
        match self {
            Mismatch::Unrecognized(why) | Mismatch::Version(why) | Mismatch::Kind { why, .. } => why,
        }
    }
}

fn text<'t>(tree: &'t Tree, name: &str) -> Result<&'t str, Mismatch> {
    match tree.get(name) {
        None | Some(Tree::Null) => Ok(""),
        Some(Tree::String(text)) => Ok(text),
        Some(other) => {
            let json = json_type(other);
            Err(no_kind(&format!(
                "json: cannot unmarshal {json} into Go struct field .{name} of type string"
            )))
        }
    }
}

fn no_kind(why: &str) -> Mismatch {
    Mismatch::Unrecognized(format!("couldn't get version/kind; json parse error: {why}"))
}

/// Group and version.
fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
