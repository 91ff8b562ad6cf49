//! Server-side apply: a configuration as it was sent, and what it makes of an object.

use orch_machinery::{
    apply::{self, Application, ApplyError},
    json::{Limits, decode::decode_tree},
    meta::{self, Meta},
    yaml,
};
use orch_runtime::Tree;

use super::{
    Call, metadata,
    options::{FieldValidation, WriteOptions},
    write::{self, Ownership},
};
use crate::error::{ApiError, Result};

/// What a manager wants of an object.
#[derive(Debug)]
pub struct Configuration {
    tree: Tree,
    /// Names that the document has more than once, as clients are told.
    duplicates: Vec<String>,
    /// Whether fields of other managers are taken.
    force: bool,
}

/// An object after an apply, and who owns its fields then.
#[derive(Debug)]
pub struct Applied {
    /// The object, read by its type.
    pub tree: Tree,
    /// Its managed fields.
    pub ownership: Ownership,
}

impl Configuration {
    /// Reads a configuration, YAML or JSON, for the kind of the endpoint.
    ///
    /// # Errors
    /// 400 for what is no YAML, is of another kind, or carries managed fields.
    pub fn read(call: Call<'_>, text: &[u8]) -> Result<Self> {
        let document = yaml::decode(text, &Limits::default())
            .map_err(|error| ApiError::BadRequest(format!("error decoding YAML: {error}")))?;
        let resource = call.target.resource;
        let api_version = text_of(&document.tree, "apiVersion");
        if api_version != resource.api_version || text_of(&document.tree, "kind") != resource.def.kind {
            return Err(ApiError::BadRequest(format!("invalid object type: {}", kind_text(&document.tree))));
        }
        if Meta::of(&document.tree).get("managedFields").is_some_and(|given| !given.is_null()) {
            return Err(ApiError::BadRequest("metadata.managedFields must be nil".to_owned()));
        }
        let force = call.query.flag("force");
        Ok(Configuration { tree: document.tree, duplicates: document.duplicates, force })
    }

    /// Merges the configuration into the live object; where there is none, into nothing.
    ///
    /// # Errors
    /// 409 for conflicts with other managers, 500 for what does not fit the type, as clients know it, 400 for another
    /// name or namespace and, where validation is strict, for duplicate names.
    pub fn apply(
        &self,
        call: Call<'_>,
        live: Option<&Tree>,
        options: &WriteOptions,
        warnings: &mut Vec<String>,
    ) -> Result<Applied> {
        let mut merged = self.merge(call, live, options)?;
        match options.field_validation {
            FieldValidation::Strict if !self.duplicates.is_empty() => {
                let all = self.duplicates.join("\n  ");
                let why = format!("error converting YAML to JSON: yaml: unmarshal errors:\n  {all}");
                return Err(ApiError::BadRequest(format!("error strict decoding YAML: {why}")));
            }
            FieldValidation::Warn => warnings.extend(self.duplicates.iter().cloned()),
            FieldValidation::Strict | FieldValidation::Ignore => {}
        }
        let entries = meta::metadata_mut(&mut merged).remove("managedFields");
        let def = call.target.resource.def.type_def;
        let mut tree = decode_tree(merged, def, &Limits::default())
            .map_err(|error| self.does_not_fit(&error.to_string()))?
            .tree;
        metadata::check_times(&tree).map_err(|why| self.does_not_fit(&why))?;
        metadata::place(call.target, &mut tree)?;
        metadata::check_name(call.target, &tree)?;
        Ok(Applied { tree, ownership: Ownership::Applied { entries } })
    }

    fn merge(&self, call: Call<'_>, live: Option<&Tree>, options: &WriteOptions) -> Result<Tree> {
        let resource = call.target.resource;
        let empty = write::empty_object(call)?;
        let nothing = serde_json::json!({
            "kind": resource.def.kind,
            "apiVersion": resource.api_version,
            "metadata": {},
        });
        let live = live.unwrap_or(&nothing);
        let (time, reset) = (call.app.now().to_string(), write::reset_fields(call));
        let write = write::ownership(call, options, &time, &reset);
        let application = Application { write, force: self.force, config: &self.tree };
        apply::apply(&application, empty, live, resource.def.type_def).map_err(|error| match error {
            ApplyError::Schema(why) => self.does_not_fit(&why),
            ApplyError::Conflicts(conflicts) => ApiError::ApplyConflict(conflicts),
        })
    }

    /// A uid in a configuration is a precondition: there is no object that could have it.
    ///
    /// # Errors
    /// 409 where the configuration has one.
    pub fn check_creates(&self, call: Call<'_>) -> Result<()> {
        let uid = Meta::of(&self.tree).uid();
        if uid.is_empty() {
            return Ok(());
        }
        let cause = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        Err(ApiError::conflict(call.target.resource, &call.target.name, cause))
    }

    /// 500 without a reason: what existing clients know for a configuration that does not fit its type.
    fn does_not_fit(&self, why: &str) -> ApiError {
        let metadata = Meta::of(&self.tree);
        ApiError::Unclassified(format!(
            "failed to create typed patch object ({}/{}; {}): {why}",
            metadata.namespace(),
            metadata.name(),
            kind_text(&self.tree)
        ))
    }
}

fn text_of<'t>(tree: &'t Tree, name: &str) -> &'t str {
    tree.get(name).and_then(Tree::as_str).unwrap_or_default()
}

/// `/v1, Kind=ConfigMap`, `apps/v1, Kind=DaemonSet`.
fn kind_text(tree: &Tree) -> String {
    let api_version = text_of(tree, "apiVersion");
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={}", text_of(tree, "kind"))
}
