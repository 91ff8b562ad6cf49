//! Manifests in another version of their kinds, without a server that runs.

use orch_config::{enablement::Enablement, start_error::StartError};
use orch_machinery::{
    json::{Limits, decode::decode, encode::encode},
    meta,
};
use orch_registry::{
    catalog::{Catalog, ServedResource},
    conversion,
};
use orch_runtime::Tree;

use super::Server;
use crate::manifests::{Manifest, Place};

/// What became of an object.
#[derive(Debug)]
pub struct Converted {
    /// Where it stood.
    pub place: Place,
    /// The object as JSON, with its fields in the order of the schema; or why there is none.
    pub object: Result<String, String>,
}

impl Server {
    /// The objects in this version, `group/v2`, where their kinds have it. Objects of other groups stay as
    /// they are. Defaults are not filled in, and no rule is checked.
    ///
    /// # Errors
    /// Where no kind has this version.
    pub fn convert(self, manifests: Vec<Manifest>, version: &str) -> Result<Vec<Converted>, StartError> {
        let tables = self.tables.iter().copied();
        let enablement = Enablement::everything();
        let is_served = |def: &_| enablement.serves(self.config.vocabulary, def);
        let catalog = Catalog::of_served(self.config.vocabulary, tables, &self.behaviours, is_served);
        if !catalog.resources().any(|resource| resource.api_version == version) {
            let problem = format!("no kind has the version {version:?}");
            return Err(StartError::configuration("--output-version", problem));
        }
        let convert = |Manifest { place, tree }| {
            let object = convert_one(&catalog, &tree, version);
            Converted { place, object }
        };
        Ok(manifests.into_iter().map(convert).collect())
    }
}

fn convert_one(catalog: &Catalog, tree: &Tree, version: &str) -> Result<String, String> {
    let (api_version, kind) = (meta::api_version(tree), meta::kind(tree));
    let group = |version: &str| version.rsplit_once('/').map(|(group, _)| group.to_owned());
    if group(api_version) != group(version) {
        return Ok(tree.to_string());
    }
    let named = |version: &str| catalog.resources().find(|served| is_named(served, version, kind));
    let [Some(from), Some(into)] = [api_version, version].map(named) else {
        return Err(unknown(catalog, api_version, version, kind));
    };
    let read = decode(tree.to_string().as_bytes(), from.def.type_def, &Limits::default());
    let read = read.map_err(|error| error.to_string())?;
    if !read.strict.is_empty() {
        let offences: Vec<String> = read.strict.iter().map(ToString::to_string).collect();
        return Err(format!("strict decoding error: {}", offences.join(", ")));
    }
    if from.forms.is_empty() && api_version != version {
        return Err(format!("{kind} has no conversion from {api_version} to {version}"));
    }
    let converted = conversion::convert(from.def, into, read.tree).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    encode(&converted, into.def.type_def, &mut text);
    String::from_utf8(text).map_err(|error| error.to_string())
}

fn is_named(served: &ServedResource, version: &str, kind: &str) -> bool {
    served.api_version == version && served.def.kind == kind
}

fn unknown(catalog: &Catalog, from: &str, into: &str, kind: &str) -> String {
    let missing = if catalog.resources().any(|served| is_named(served, from, kind)) { into } else { from };
    format!("no matches for kind {kind:?} in version {missing:?}")
}
