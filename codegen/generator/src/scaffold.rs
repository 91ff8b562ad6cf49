//! A schema file to start from.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    idl::json_schema,
    load::{is_dns_subdomain, is_version},
    lower::names,
};

/// The schema of schema files, in their folder.
pub const IDL_SCHEMA: &str = "idl.schema.json";

/// The first line of a schema file, by which editors find [`IDL_SCHEMA`].
pub const MODELINE: &str = "# yaml-language-server: $schema=../../idl.schema.json";

/// Why no file was written.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// The first argument is not a group and a version.
    #[error("`{given}` is not GROUP/VERSION: write it like example.orch.io/v1, or core/v1")]
    GroupVersion {
        /// What was given.
        given: String,
    },
    /// The second argument cannot name a kind.
    #[error("`{given}` cannot name a kind: write it in CamelCase, like Widget")]
    Kind {
        /// What was given.
        given: String,
    },
    /// There is a file already.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Writes `<folder>/<group>/<version>/<kind>.yaml` with a small kind that passes the checks, and returns its
/// path. An existing file is never touched.
pub fn create(folder: &Path, group_version: &str, kind: &str) -> Result<PathBuf, ScaffoldError> {
    let (group, version) = group_version
        .split_once('/')
        .filter(|(group, version)| is_dns_subdomain(group) && is_version(version))
        .ok_or_else(|| ScaffoldError::GroupVersion { given: group_version.to_owned() })?;
    if !names::is_type(kind) {
        return Err(ScaffoldError::Kind { given: kind.to_owned() });
    }
    let path = folder.join(group).join(version).join(format!("{}.yaml", kind.to_lowercase()));
    let written = write_new(&path, &text(group, version, kind)).and_then(|()| write_idl_schema(folder));
    match written {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(ScaffoldError::Exists { path }),
        Err(source) => Err(ScaffoldError::Write { path, source }),
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Puts the schema of schema files beside them, where it is missing: the first line of each file names it.
fn write_idl_schema(folder: &Path) -> io::Result<()> {
    let path = folder.join(IDL_SCHEMA);
    if path.exists() { Ok(()) } else { fs::write(path, json_schema::text()) }
}

fn text(group: &str, version: &str, kind: &str) -> String {
    let plural = plural(&kind.to_lowercase());
    format!(
        "{MODELINE}
openapi: 3.1.0
info: {{title: {group}, version: {version}}}
components:
  schemas:
    {kind}:
      description: {kind} is a kind that is still to be described.
      x-orch-resource:
        plural: {plural}
        scope: Namespaced
        subresources: [status]
        generation: true
      type: object
      required: [spec]
      properties:
        spec: {{$ref: '#/components/schemas/{kind}Spec'}}
        status: {{$ref: '#/components/schemas/{kind}Status'}}
    {kind}Spec:
      description: What is wanted.
      type: object
      properties:
        replicas:
          description: How many of them are wanted.
          type: integer
          format: int32
          minimum: 0
          default: 1
    {kind}Status:
      description: What is the case.
      type: object
      properties:
        observedGeneration:
          description: The generation of the object that the status is about.
          type: integer
          format: int64
"
    )
}

/// The English plural of a word in small letters; a guess, for a file that a person will read.
fn plural(word: &str) -> String {
    let before_y = word.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    if let Some(stem) = before_y {
        format!("{stem}ies")
    } else if ["s", "x", "z", "ch", "sh"].iter().any(|ending| word.ends_with(ending)) {
        format!("{word}es")
    } else {
        format!("{word}s")
    }
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn plurals() {
        for (word, expected) in [
            ("widget", "widgets"),
            ("policy", "policies"),
            ("gateway", "gateways"),
            ("class", "classes"),
            ("box", "boxes"),
            ("batch", "batches"),
        ] {
            assert_eq!(plural(word), expected);
        }
    }
}
