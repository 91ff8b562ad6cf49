//! Schema folders: which files there are, what each holds, and which group and version it belongs to.
//!
//! A folder is laid out as `<group>/<version>/<name>.yaml`, with `core` for the core group, besides
//! `vocabulary.yaml`, `releases.yaml`, `surface.yaml` and `seed/`, which are not schema.

mod header;

pub use header::{is_dns_subdomain, is_version};

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Folder, Inputs,
    diagnostic::{Diagnostics, Span},
    idl::{Document, Entries, Read, Schema, VocabularyFile},
    source::{self, Spanned},
};

/// The file of the product words.
const VOCABULARY: &str = "vocabulary.yaml";
/// Objects that a new server starts with; not schema.
pub(crate) const SEED: &str = "seed";
/// The dates of releases: nothing is generated from them.
pub const RELEASES: &str = "releases.yaml";
/// What is promised beside the schema: nothing is generated from it.
pub const SURFACE: &str = "surface.yaml";

/// Every schema file of one run.
#[derive(Debug, Default)]
pub struct Files {
    /// Schema files of the folder itself and of the imported ones, sorted by group, version and path.
    pub schemas: Vec<SchemaFile>,
    /// `vocabulary.yaml` of the folder itself.
    pub vocabulary: Option<VocabularyFile>,
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
    /// Whether it lies in the folder that is generated from, although another crate may hold the code.
    pub in_folder: bool,
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
    read_own(inputs, &mut files, diagnostics);
    for (name, folder) in &inputs.imports {
        let in_folder = folder.path == inputs.schema.path;
        for path in files_of(folder, &|_| true, diagnostics) {
            if path != folder.path.join(VOCABULARY) {
                let file = read(path, folder, diagnostics);
                let file =
                    file.map(|file| SchemaFile { extern_crate: Some(name.clone()), in_folder, ..file });
                files.schemas.extend(file);
            }
        }
    }
    let key = |file: &SchemaFile| (file.group.clone(), file.version.clone(), file.path.clone());
    files.schemas.sort_by_key(key);
    check_crates(&files.schemas, diagnostics);
    files
}

/// Reads the folder to generate from, without what an import of the same folder holds.
fn read_own(inputs: &Inputs, files: &mut Files, diagnostics: &mut Diagnostics) {
    let folder = &inputs.schema;
    let is_own = |entry: &str| {
        !inputs.imports.iter().any(|(_, import)| import.path == folder.path && import.holds(entry))
    };
    for path in files_of(folder, &is_own, diagnostics) {
        if path == folder.path.join(VOCABULARY) {
            files.vocabulary =
                source::read(&path, diagnostics).and_then(|node| VocabularyFile::read(&node, diagnostics));
        } else {
            files.schemas.extend(read(path, folder, diagnostics));
        }
    }
}

/// Reads one schema file of a folder.
fn read(path: PathBuf, folder: &Folder, diagnostics: &mut Diagnostics) -> Option<SchemaFile> {
    let node = source::read(&path, diagnostics)?;
    let document = Document::read(&node, diagnostics)?;
    let relative = path.strip_prefix(&folder.path).unwrap_or(&path);
    let (group, version) = header::group_version(&document, relative, diagnostics);
    Some(SchemaFile { path, group, version, extern_crate: None, in_folder: true, document })
}

/// A group and version belongs to one crate: code for it is generated in one place.
fn check_crates(schemas: &[SchemaFile], diagnostics: &mut Diagnostics) {
    for pair in schemas.windows(2) {
        let [first, second] = pair else { continue };
        let same = first.group == second.group && first.version == second.version;
        if same && first.extern_crate != second.extern_crate {
            // The error is reported at the folder's own file, which may sort first or second.
            let (first, second) =
                if first.extern_crate.is_none() { (second, first) } else { (first, second) };
            let span = second.document.info.as_ref().map_or(&second.document.span, |info| &info.span);
            let message = format!("this group and version is also declared in `{}`", first.path.display());
            let help = "code for it is generated in another crate: choose a group or version of your own";
            diagnostics.error(span, message, help).code("E0105");
        }
    }
}

/// All YAML files of a folder whose entry counts, sorted. What cannot be read is reported.
fn files_of(
    folder: &Folder,
    is_wanted: &dyn Fn(&str) -> bool,
    diagnostics: &mut Diagnostics,
) -> Vec<PathBuf> {
    for name in folder.only.iter().filter(|name| !folder.path.join(name).exists()) {
        let message = format!("the folder has no `{name}`");
        let help = "name entries of the schema folder: groups, or `vocabulary.yaml`";
        diagnostics.error(&Span::whole_file(&folder.path), message, help).code("E0102");
    }
    let entries = entries(&folder.path, diagnostics);
    let entries = entries.into_iter().filter(|path| {
        let name = name(path);
        ![SEED, RELEASES, SURFACE].contains(&name.as_str()) && folder.holds(&name) && is_wanted(&name)
    });
    entries.flat_map(|path| walk(path, diagnostics)).collect()
}

/// The YAML files at or below a path, sorted.
fn walk(path: PathBuf, diagnostics: &mut Diagnostics) -> Vec<PathBuf> {
    if path.is_dir() {
        let below = entries(&path, diagnostics);
        return below.into_iter().flat_map(|path| walk(path, diagnostics)).collect();
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("yaml") => return vec![path],
        Some("yml") => {
            let help = format!("rename it to `{}`", path.with_extension("yaml").display());
            diagnostics.error(&Span::whole_file(&path), "a schema file ends in `.yaml`", help).code("E0102");
        }
        _ => {}
    }
    Vec::new()
}

/// What is in a folder, sorted, without hidden entries.
fn entries(folder: &Path, diagnostics: &mut Diagnostics) -> Vec<PathBuf> {
    match fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
        Ok(entries) => {
            let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
            paths.retain(|path| !name(path).starts_with('.'));
            paths.sort();
            paths
        }
        Err(error) => {
            let message = format!("cannot read the folder: {error}");
            diagnostics
                .error(&Span::whole_file(folder), message, "check the path of the schema folder")
                .code("E0101");
            Vec::new()
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
