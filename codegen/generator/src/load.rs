//! Schema folders: which files there are, what each holds, and which group and version it belongs to.
//!
//! A folder is laid out as `<group>/<version>/<name>.yaml`, with `core` for the core group, besides
//! `vocabulary.yaml` and `seed/`, which is not schema.

mod header;

pub use header::{is_dns_subdomain, is_version};

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Inputs,
    diagnostic::{Diagnostics, Span},
    idl::{Document, Entries, Read, Schema, VocabularyFile},
    source::{self, Spanned},
};

/// Every schema file of one run.
#[derive(Debug, Default)]
pub struct Files {
    /// Schema files of the folder itself and of the imported ones, sorted by group, version and path.
    pub schemas: Vec<SchemaFile>,
    /// `vocabulary.yaml` of the folder itself.
    pub vocabulary: Option<VocabularyFile>,
    /// Everything that was looked at, folders included: when it changes, so may the result.
    pub looked_at: Vec<PathBuf>,
}

/// One schema file.
#[derive(Debug)]
pub struct SchemaFile {
    /// Where it is.
    pub path: PathBuf,
    /// `""` for the core group.
    pub group: String,
    /// `v1`.
    pub version: String,
    /// The crate that holds the generated code, for an imported file.
    pub extern_crate: Option<String>,
    /// What it holds.
    pub document: Document,
}

impl SchemaFile {
    /// The types that the file declares.
    pub fn types(&self) -> impl Iterator<Item = &(Spanned<String>, Schema)> {
        let schemas = self.document.components.as_ref().and_then(|components| components.schemas.as_ref());
        schemas.map(|Entries(entries)| entries.as_slice()).unwrap_or_default().iter()
    }
}

/// Reads the folder and the imported folders.
pub fn load(inputs: &Inputs, diagnostics: &mut Diagnostics) -> Files {
    let mut files = Files::default();
    read_folder(&inputs.schema, None, &mut files, diagnostics);
    for (name, folder) in &inputs.imports {
        read_folder(folder, Some(name), &mut files, diagnostics);
    }
    let key = |file: &SchemaFile| (file.group.clone(), file.version.clone(), file.path.clone());
    files.schemas.sort_by_key(key);
    check_crates(&files.schemas, diagnostics);
    files
}

/// A group and version belongs to one crate: code for it is generated in one place.
fn check_crates(schemas: &[SchemaFile], diagnostics: &mut Diagnostics) {
    for pair in schemas.windows(2) {
        let [first, second] = pair else { continue };
        let same = first.group == second.group && first.version == second.version;
        if same && first.extern_crate != second.extern_crate {
            // The folder's own file is to blame; it sorts anywhere.
            let (first, second) =
                if first.extern_crate.is_none() { (second, first) } else { (first, second) };
            let span = second.document.info.as_ref().map_or(&second.document.span, |info| &info.span);
            let message = format!("this group and version is also declared in `{}`", first.path.display());
            let help = "code for it is generated in another crate: choose a group or version of your own";
            diagnostics.error(span, message, help);
        }
    }
}

fn read_folder(
    folder: &Path,
    extern_crate: Option<&String>,
    files: &mut Files,
    diagnostics: &mut Diagnostics,
) {
    for path in walk(folder, folder, files, diagnostics) {
        let relative = path.strip_prefix(folder).unwrap_or(&path);
        if relative == Path::new("vocabulary.yaml") {
            if extern_crate.is_none() {
                files.vocabulary = source::read(&path, diagnostics)
                    .and_then(|node| VocabularyFile::read(&node, diagnostics));
            }
            continue;
        }
        let Some(document) =
            source::read(&path, diagnostics).and_then(|node| Document::read(&node, diagnostics))
        else {
            continue;
        };
        let (group, version) = header::group_version(&document, relative, diagnostics);
        files.schemas.push(SchemaFile {
            path,
            group,
            version,
            extern_crate: extern_crate.cloned(),
            document,
        });
    }
}

/// All YAML files below a folder, sorted. What cannot be read is reported.
fn walk(root: &Path, folder: &Path, files: &mut Files, diagnostics: &mut Diagnostics) -> Vec<PathBuf> {
    files.looked_at.push(folder.to_path_buf());
    let mut entries = match fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
        Ok(entries) => entries.into_iter().map(|entry| entry.path()).collect::<Vec<_>>(),
        Err(error) => {
            let message = format!("cannot read the folder: {error}");
            diagnostics.error(&Span::whole_file(folder), message, "check the path of the schema folder");
            return Vec::new();
        }
    };
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with('.') || path == root.join("seed") {
            continue;
        }
        if path.is_dir() {
            found.extend(walk(root, &path, files, diagnostics));
            continue;
        }
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml") => {
                files.looked_at.push(path.clone());
                found.push(path);
            }
            Some("yml") => {
                let help = format!("rename it to `{}`", path.with_extension("yaml").display());
                diagnostics.error(&Span::whole_file(&path), "a schema file ends in `.yaml`", help);
            }
            _ => {}
        }
    }
    found
}
