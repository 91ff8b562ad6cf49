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
//!
//! A crate whose generated types other crates refer to has a `links` key of its own name. Cargo then passes
//! what the build script says (`cargo::metadata`) to the build scripts of the crates that depend on it
//! directly, and they import its types without a further word. This is known of the crates in [`SHARED`].
//!
//! A package with a feature `client` that is on, and with the dependency `orch-client`, gets its kinds for
//! clients too: `example::v1::client::Widget` is what `kube::Api` takes.
//!
//! The code for one folder can be in two crates, so that the second can change without the first: one
//! generates [`Build::only`] a part, the other depends on it and generates the rest. The registry of the
//! second holds both.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{
    Folder, Inputs, emit, functions, load,
    seed::{self, SeedError},
};

/// Crates whose types are imported where a package depends on them, and how cargo names what their build
/// scripts say. The first that is there counts: `orch_api` passes on all of `orch_meta`.
pub(crate) const SHARED: [(&str, Variables); 2] = [
    ("orch_api", Variables { schema: "DEP_ORCH_API_SCHEMA", only: "DEP_ORCH_API_ONLY" }),
    ("orch_meta", Variables { schema: "DEP_ORCH_META_SCHEMA", only: "DEP_ORCH_META_ONLY" }),
];

/// How cargo says that a package's feature `client` is on.
const CLIENT_FEATURE: &str = "CARGO_FEATURE_CLIENT";

/// What the build script of a dependency says, as environment variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variables {
    /// Its schema folder.
    schema: &'static str,
    /// The entries of the folder that it generates, with `,` between them; not set where it is all of them.
    only: &'static str,
}

/// A run of the generator in a build script.
#[derive(Clone, Debug)]
pub struct Build {
    inputs: Inputs,
    module: Option<String>,
    seed: bool,
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
    /// A file of the seed is wrong.
    #[error(transparent)]
    Seed(#[from] SeedError),
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
    /// A run over the schema files of a folder, relative to the package. Where the package depends on
    /// `orch-api` or `orch-meta`, the types of that crate can be referred to.
    pub fn new(schema: impl Into<PathBuf>) -> Self {
        let imports = SHARED.iter().find_map(|(krate, variables)| {
            let path = env::var_os(variables.schema)?.into();
            let only = env::var(variables.only).unwrap_or_default();
            let only = only.split(',').filter(|entry| !entry.is_empty()).map(str::to_owned).collect();
            Some(((*krate).to_owned(), Folder { path, only }))
        });
        let schema = Folder::from(schema);
        Build { inputs: Inputs { schema, imports: imports.into_iter().collect() }, module: None, seed: false }
    }

    /// Generates for a module of the crate, for a crate with several schema folders. The root file is
    /// `<module>/<package>.rs`, to be included in that module.
    pub fn module(mut self, name: impl Into<String>) -> Self {
        self.module = Some(name.into());
        self
    }

    /// Generates some entries of the folder and no others: groups, and `vocabulary.yaml`.
    pub fn only(mut self, entries: &[&str]) -> Self {
        self.inputs.schema.only = entries.iter().map(|entry| (*entry).to_owned()).collect();
        self
    }

    /// Also writes the objects of the folder's `seed` as JSON. `seed/roles.yaml` becomes
    /// `include_str!(concat!(env!("OUT_DIR"), "/seed/roles.json"))`.
    pub fn seed(mut self) -> Self {
        self.seed = true;
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
        let package = variable("CARGO_PKG_NAME")?.replace('-', "_");
        let root = self.module.iter().fold(package, |package, module| format!("{module}/{package}"));
        let Inputs { mut schema, imports } = self.inputs;
        // Places in messages are absolute, so that they can be followed from anywhere.
        schema.path = schema.path.canonicalize().unwrap_or(schema.path);
        // Cargo looks at every file below a folder.
        for path in imports.iter().map(|(_, folder)| folder).chain([&schema]).flat_map(Folder::watched) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        for (_, variables) in SHARED {
            println!("cargo::rerun-if-env-changed={}", variables.schema);
            println!("cargo::rerun-if-env-changed={}", variables.only);
        }
        println!("cargo::metadata=schema={}", schema.path.display());
        if !schema.only.is_empty() {
            println!("cargo::metadata=only={}", schema.only.join(","));
        }
        if self.seed {
            write(&seed::files(&schema.path.join(load::SEED))?, &out)?;
        }
        let mut loaded = load(&Inputs { schema, imports });
        let source = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("src");
        // Other functions that go away are found by the compiler: their files change too often to run this
        // each time. A file that is not there would make cargo run this every time.
        for path in
            ["formats.rs", "formats"].map(|name| source.join(name)).iter().filter(|path| path.exists())
        {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        functions::check(&loaded.model, &[source], &mut loaded.diagnostics);
        let rendered = loaded.diagnostics.render();
        if loaded.diagnostics.has_errors() {
            return Err(BuildError::Schema { rendered, errors: loaded.diagnostics.counts().0 });
        }
        let clients = env::var_os(CLIENT_FEATURE).is_some();
        write(&emit::emit(&loaded.model, &root, clients), &out)?;
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
