//! Server-side apply (KEP-555): reading a configuration, and merging it into an object.

use orch_machinery::{
    apply::{self, Application, ApplyError},
    cbor,
    json::{
        Limits,
        decode::{DecodeError, decode_tree},
    },
    managed_fields,
    media_type::Syntax,
    meta::{Meta, field},
    patch::shown::cannot_unmarshal,
    scalars, yaml,
};
use orch_runtime::Tree;

use super::{
    attempt::Attempt,
    body::{self, unreadable},
    draft::Ownership,
    expected::Expected,
    names, own, place,
};
use crate::{
    context::RequestContext,
    conversion::LostManagers,
    error::{ApiError, Result},
    objects::Current,
    options::FieldValidation,
    request::Target,
    scale::Scaling,
};

/// The fields that a manager wants an object to have, with their values.
#[derive(Debug)]
pub struct Configuration {
    /// Without fields that the kind does not have. That of a scale is one of its object.
    tree: Tree,
    /// Messages about names that the document has more than once.
    duplicates: Vec<String>,
    /// Messages about fields that the kind does not have.
    unknown: Vec<String>,
    /// Whether fields of other managers are taken over.
    force: bool,
}

impl Configuration {
    /// Reads a configuration, in CBOR, YAML or JSON, for the kind of the endpoint.
    ///
    /// # Errors
    /// 400 for bytes that are not of the syntax, for another kind, and for managed fields.
    pub fn read(
        cx: &RequestContext<'_>,
        target: &Target<'_>,
        syntax: Syntax,
        bytes: &[u8],
        force: bool,
    ) -> Result<Self> {
        let mut document = document(syntax, bytes)?;
        if let Some(spelling) = cx.spelling() {
            spelling.read(&mut document.tree);
        }
        let expected = Expected::of(cx.core.catalog(), target);
        let api_version = text_of(&document.tree, "apiVersion");
        if api_version != expected.api_version || text_of(&document.tree, "kind") != expected.kind {
            return Err(ApiError::BadRequest(format!("invalid object type: {}", kind_text(&document.tree))));
        }
        if Meta::of(&document.tree).get(field::MANAGED_FIELDS).is_some_and(|given| !given.is_null()) {
            return Err(ApiError::BadRequest("metadata.managedFields must be nil".to_owned()));
        }
        let unknown = apply::drop_unknown(&mut document.tree, expected.type_def);
        let unknown = unknown.iter().map(ToString::to_string).collect();
        let tree = match Scaling::of(target) {
            Some(scaling) => scaling.configuration(&document.tree),
            None => document.tree,
        };
        Ok(Configuration { tree, duplicates: document.duplicates, unknown, force })
    }

    /// Merges the configuration into the live object, or into an empty one where there is none.
    ///
    /// # Errors
    /// 409 for conflicts with other managers; 500 where the result does not fit the type; 400 for another
    /// name or namespace and, where validation is strict, for unknown fields and duplicate names.
    pub fn apply(&self, attempt: Attempt<'_>, live: Option<&Current>) -> Result<(Tree, Ownership)> {
        let Attempt { cx, target, options } = attempt;
        if options.field_validation == FieldValidation::Strict && !self.unknown.is_empty() {
            let all: Vec<String> = self.duplicates.iter().chain(&self.unknown).cloned().collect();
            return Err(body::refused_strictly(cx, target, &all));
        }
        if let Some(scaling) = Scaling::of(target) {
            scaling.check_configuration(cx, &self.tree)?;
        }
        let mut merged = self.merge(attempt, live)?;
        match options.field_validation {
            FieldValidation::Strict if !self.duplicates.is_empty() => {
                let all = self.duplicates.join("\n  ");
                let why = format!("error converting YAML to JSON: yaml: unmarshal errors:\n  {all}");
                return Err(ApiError::BadRequest(format!("error strict decoding YAML: {why}")));
            }
            FieldValidation::Warn => cx.warn_all(self.duplicates.iter().chain(&self.unknown).cloned()),
            FieldValidation::Strict | FieldValidation::Ignore => {}
        }
        let entries = managed_fields::take_entries(&mut merged);
        let def = target.resource.def.type_def;
        let mut tree = decode_tree(merged, def, &Limits::default())
            .map_err(|error| {
                unreadable(&error, |why| match &error {
                    DecodeError::Type { restored: Some(why), .. } => self.makes_no_object(why),
                    _ => self.makes_no_object(&why),
                })
            })?
            .tree;
        place::check_times(&tree).map_err(|why| self.makes_no_object(&why))?;
        scalars::check(&tree, def).map_err(|why| self.makes_no_object(&why))?;
        place::put_into_namespace(target, &mut tree)?;
        names::check_name(target, &tree)?;
        Ok((tree, Ownership::Applied { entries }))
    }

    fn merge(&self, attempt: Attempt<'_>, live: Option<&Current>) -> Result<Tree> {
        let resource = attempt.target.resource;
        let empty = own::empty_object(resource)?;
        let nothing = serde_json::json!({
            "kind": resource.def.kind,
            "apiVersion": resource.api_version,
            "metadata": {},
        });
        let lost_managers = live.is_some_and(|live| live.lost_managers == LostManagers::All);
        let live = live.map_or(&nothing, |live| &live.tree);
        let (time, reset) = (attempt.cx.core.now().to_string(), own::reset_fields(attempt));
        let write = managed_fields::Write { lost_managers, ..own::record(attempt, &time, &reset) };
        let application = Application { write, force: self.force, config: &self.tree };
        apply::apply(&application, empty, live, resource.def.type_def).map_err(|error| match error {
            ApplyError::Schema(why) => {
                let config = self.shown();
                ApiError::Unclassified(format!("failed to create typed patch object ({config}): {why}"))
            }
            ApplyError::Conflicts(conflicts) => ApiError::ApplyConflict(conflicts),
        })
    }

    /// Checks a configuration that creates its object. A uid in it is a precondition that a new object cannot
    /// meet.
    ///
    /// # Errors
    /// 409 where the configuration has one.
    pub fn check_creates(&self, target: &Target<'_>) -> Result<()> {
        let uid = Meta::of(&self.tree).uid();
        if uid.is_empty() {
            return Ok(());
        }
        let cause = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        Err(ApiError::conflict(target.resource, &target.name, cause))
    }

    /// 500 without a reason, as the reference answers where the merged object cannot be read.
    fn makes_no_object(&self, why: &str) -> ApiError {
        let (config, kind) = (self.shown(), kind_text(&self.tree));
        ApiError::Unclassified(format!(
            "failed to convert new object ({config}) to proper version: \
             unable to convert unstructured object to {kind}: {why}"
        ))
    }

    /// The configuration in messages: `namespace/name; apps/v1, Kind=DaemonSet`.
    fn shown(&self) -> String {
        let metadata = Meta::of(&self.tree);
        format!("{}/{}; {}", metadata.namespace(), metadata.name(), kind_text(&self.tree))
    }
}

/// The content of a configuration, and its duplicate names. CBOR with such names is refused. Nothing is an
/// object without fields.
fn document(syntax: Syntax, bytes: &[u8]) -> Result<yaml::Document> {
    let nothing = || yaml::Document { tree: Tree::Null, duplicates: Vec::new() };
    let (name, read) = match syntax {
        Syntax::Cbor => {
            let tree = cbor::decode_any(bytes, &Limits::default());
            ("CBOR", tree.map(|tree| yaml::Document { tree, ..nothing() }))
        }
        Syntax::Json | Syntax::Yaml | Syntax::Protobuf if bytes.trim_ascii().is_empty() => {
            ("YAML", Ok(nothing()))
        }
        Syntax::Json | Syntax::Yaml | Syntax::Protobuf => ("YAML", yaml::decode(bytes, &Limits::default())),
    };
    let undecoded = |why: String| ApiError::BadRequest(format!("error decoding {name}: {why}"));
    let document = read.map_err(|error| unreadable(&error, undecoded))?;
    if document.tree.is_object() || document.tree.is_null() {
        return Ok(document);
    }
    let why = cannot_unmarshal(&document.tree, "map[string]interface {}");
    Err(undecoded(format!("error unmarshaling JSON: while decoding JSON: {why}")))
}

fn text_of<'t>(tree: &'t Tree, name: &str) -> &'t str {
    tree.get(name).and_then(Tree::as_str).unwrap_or_default()
}

/// `/v1, Kind=ConfigMap`, `apps/v1, Kind=DaemonSet`. What is no version has no kind either.
fn kind_text(tree: &Tree) -> String {
    let (api_version, kind) = (text_of(tree, "apiVersion"), text_of(tree, "kind"));
    match api_version.matches('/').count() {
        0 => format!("/{api_version}, Kind={kind}"),
        1 => format!("{api_version}, Kind={kind}"),
        _ => "/, Kind=".to_owned(),
    }
}
