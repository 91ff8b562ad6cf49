//! The generator as a build script runs it.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     orch_codegen::Build::new("schema").run()
//! }
//! ```
//!
//! The generated root file is named after the package and is included at the root of the crate:
//! `include!(concat!(env!("OUT_DIR"), "/widgets.rs"));`

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{Inputs, emit, load};

/// Where the schema folder of `orch-api` is, for build scripts of the crates that depend on it.
const API_SCHEMA: &str = "DEP_ORCH_API_SCHEMA";

/// A run of the generator in a build script.
#[derive(Clone, Debug)]
pub struct Build {
    schema: PathBuf,
    imports: Vec<(String, PathBuf)>,
}

/// Why nothing, or not everything, was generated.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The schema files are wrong; each error is rendered with its place and a remedy.
    #[error("{rendered}")]
    Schema {
        /// All errors and warnings, as text.
        rendered: String,
        /// The number of errors.
        errors: usize,
    },
    /// A variable that cargo sets for build scripts is missing.
    #[error("the variable {name} is not set: run this from a build script")]
    NoCargo {
        /// Its name.
        name: &'static str,
    },
    /// A generated file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl Build {
    /// A run over the schema files of a folder, relative to the package. Where the package depends on `orch-api`,
    /// the types of that crate can be referred to.
    pub fn new(schema: impl Into<PathBuf>) -> Self {
        let imports = env::var_os(API_SCHEMA).map(|folder| ("orch_api".to_owned(), folder.into()));
        Build { schema: schema.into(), imports: imports.into_iter().collect() }
    }

    /// Makes the types of another schema folder known, whose generated code is in the crate of that name.
    #[must_use]
    pub fn import(mut self, krate: &str, schema: impl Into<PathBuf>) -> Self {
        self.imports.push((krate.to_owned(), schema.into()));
        self
    }

    /// Generates into the output folder of the build script, and reports to cargo. Errors of schema files are
    /// printed in full.
    pub fn run(self) -> ExitCode {
        match self.generate() {
            Ok(warnings) => {
                for line in warnings.lines() {
                    println!("cargo::warning={line}");
                }
                ExitCode::SUCCESS
            }
            Err(error) => {
                report(&error);
                ExitCode::FAILURE
            }
        }
    }

    /// Generates, and returns the rendered warnings.
    fn generate(self) -> Result<String, BuildError> {
        let out = PathBuf::from(variable("OUT_DIR")?);
        let root = variable("CARGO_PKG_NAME")?.replace('-', "_");
        // Places in messages are absolute, so that they can be followed from anywhere.
        let schema = self.schema.canonicalize().unwrap_or(self.schema);
        // Cargo looks at every file below a folder.
        for folder in [&schema].into_iter().chain(self.imports.iter().map(|(_, folder)| folder)) {
            println!("cargo::rerun-if-changed={}", folder.display());
        }
        let loaded = load(&Inputs { schema, imports: self.imports });
        println!("cargo::rerun-if-env-changed={API_SCHEMA}");
        let rendered = loaded.diagnostics.render();
        if loaded.diagnostics.has_errors() {
            return Err(BuildError::Schema { rendered, errors: loaded.diagnostics.counts().0 });
        }
        write(&emit::emit(&loaded.model, &root), &out)?;
        Ok(rendered)
    }
}

/// Writes the files that are not there yet in the same form, so that an unchanged file keeps its time.
pub fn write(files: &[emit::GeneratedFile], out: &Path) -> Result<(), BuildError> {
    for file in files {
        let path = out.join(&file.path);
        if fs::read(&path).is_ok_and(|text| text == file.text.as_bytes()) {
            continue;
        }
        let folder = path.parent().unwrap_or(out);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, &file.text))
            .map_err(|source| BuildError::Write { path, source })?;
    }
    Ok(())
}

/// Prints an error where cargo shows it: errors about schema files as they are, in full.
fn report(error: &BuildError) {
    match error {
        BuildError::Schema { rendered, errors } => {
            eprintln!("\n{rendered}");
            let noun = if *errors == 1 { "error" } else { "errors" };
            println!("cargo::error={errors} {noun} in the schema files, shown below");
        }
        other => println!("cargo::error={}", with_causes(other)),
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

fn variable(name: &'static str) -> Result<String, BuildError> {
    env::var(name).map_err(|_| BuildError::NoCargo { name })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::emit::GeneratedFile;

    #[test]
    fn only_changed_files_are_written() {
        let out = tempfile::tempdir().unwrap();
        let files =
            ["kept", "changed"].map(|name| GeneratedFile { path: format!("a/{name}.rs"), text: "1".into() });
        write(&files, out.path()).unwrap();
        let path = |name: &str| out.path().join(format!("a/{name}.rs"));
        for name in ["kept", "changed"] {
            let file = fs::File::options().write(true).open(path(name)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
        let [kept, mut changed] = files;
        changed.text = "2".into();
        write(&[kept, changed], out.path()).unwrap();
        let modified = |name: &str| fs::metadata(path(name)).unwrap().modified().unwrap();
        assert_eq!(modified("kept"), SystemTime::UNIX_EPOCH);
        assert_ne!(modified("changed"), SystemTime::UNIX_EPOCH);
        assert_eq!(fs::read_to_string(path("changed")).unwrap(), "2");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named_with_the_cause() {
        let out = tempfile::tempdir().unwrap();
        fs::write(out.path().join("a"), "not a folder").unwrap();
        let error =
            write(&[GeneratedFile { path: "a/b.rs".into(), text: String::new() }], out.path()).unwrap_err();
        let text = with_causes(&error);
        assert!(text.starts_with("cannot write ") && text.contains("a/b.rs: "), "{text}");
    }
}
