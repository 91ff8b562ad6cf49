//! The package around a schema folder. Its build script imports the types of crates that it depends on
//! ([`crate::driver`]); the command finds the same folders here, by asking cargo.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use crate::{Folder, driver::SHARED};

/// Why it is not known what a package imports. The text is meant for people.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// Cargo does not start, or does not know the package.
    #[error("cannot ask cargo about {}: {why}; name the import with --import", manifest.display())]
    Cargo {
        /// The manifest of the package.
        manifest: PathBuf,
        /// What cargo says.
        why: String,
    },
    /// A crate whose types are imported says nothing about its schema folder.
    #[error("the manifest of {0} has no key schema in [package.metadata.orch-codegen]; use --import")]
    NoSchema(String),
    /// Nothing can be built for a schema folder.
    #[error("there is no Cargo.toml above {}, so there is no server to ask", .0.display())]
    NoPackage(PathBuf),
}

/// What `cargo metadata` prints.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    #[serde(default)]
    metadata: serde_json::Value,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

/// What the build script of the package around this schema folder imports; nothing where there is no package,
/// or it depends on no crate with types.
///
/// # Errors
/// Where there is a package, and cargo cannot say where its dependencies are.
pub fn imports(schema: &Path) -> Result<Vec<(String, Folder)>, PackageError> {
    let Some(manifest) = manifest_above(schema) else { return Ok(Vec::new()) };
    let packages = packages(&manifest, true)?;
    let Some(package) = packages.iter().find(|package| package.manifest_path == manifest) else {
        // The manifest of a workspace without a package of its own.
        return Ok(Vec::new());
    };
    let is_imported = |krate: &str| {
        let mut dependencies = package.dependencies.iter().filter(|dependency| dependency.kind.is_none());
        dependencies.any(|dependency| dependency.name.replace('-', "_") == krate)
    };
    let Some((krate, _)) = SHARED.iter().find(|(krate, _)| is_imported(krate)) else {
        return Ok(Vec::new());
    };
    let is_it = |package: &&Package| package.name.replace('-', "_") == *krate;
    let folder = match packages.iter().find(is_it) {
        Some(found) => schema_of(found)?,
        // It comes from elsewhere: then cargo has to look at all dependencies, which takes longer.
        None => match self::packages(&manifest, false)?.iter().find(is_it) {
            Some(found) => schema_of(found)?,
            None => return Ok(Vec::new()),
        },
    };
    Ok(vec![((*krate).to_owned(), folder.into())])
}

/// The folders `src` of the packages whose build scripts generate from this schema folder: they have the
/// functions that its files name. Nothing where there are none, or cargo cannot say.
pub fn sources(schema: &Path) -> Vec<PathBuf> {
    let (Some(manifest), Ok(schema)) = (manifest_above(schema), schema.canonicalize()) else {
        return Vec::new();
    };
    let packages = packages(&manifest, true).unwrap_or_default();
    let folders = packages.iter().filter_map(|package| package.manifest_path.parent());
    folders.filter(|folder| generates_from(folder, &schema)).map(|folder| folder.join("src")).collect()
}

/// Whether the build script of a package runs the generator, and names the folder.
fn generates_from(package: &Path, schema: &Path) -> bool {
    let script = fs::read_to_string(package.join("build.rs")).unwrap_or_default();
    let is_it = |named: &str| package.join(named).canonicalize().is_ok_and(|folder| folder == schema);
    script.contains("orch_codegen") && script.split('"').skip(1).step_by(2).any(is_it)
}

/// Builds and runs the program of the package around this schema folder, with these arguments: rules,
/// defaults and conversions are compiled into it. Returns its exit code.
///
/// # Errors
/// Where there is no package, or cargo does not start.
pub fn run(schema: &Path, arguments: &[String]) -> Result<u8, PackageError> {
    let manifest = manifest_above(schema).ok_or_else(|| PackageError::NoPackage(schema.to_owned()))?;
    let mut command = cargo();
    command.args(["run", "--quiet", "--manifest-path"]).arg(&manifest).arg("--").args(arguments);
    let status =
        command.status().map_err(|error| PackageError::Cargo { manifest, why: error.to_string() })?;
    // What a signal has ended was not carried out.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2))
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The nearest manifest above a folder.
fn manifest_above(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().skip(1).map(|above| above.join("Cargo.toml")).find(|manifest| manifest.is_file())
}

fn packages(manifest: &Path, only_workspace: bool) -> Result<Vec<Package>, PackageError> {
    let failed = |why: String| PackageError::Cargo { manifest: manifest.to_owned(), why };
    let mut command = cargo();
    command.args(["metadata", "--quiet", "--format-version=1", "--manifest-path"]).arg(manifest);
    if only_workspace {
        command.arg("--no-deps");
    }
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))?;
    Ok(metadata.packages)
}

fn schema_of(package: &Package) -> Result<PathBuf, PackageError> {
    let written = package.metadata.pointer("/orch-codegen/schema").and_then(serde_json::Value::as_str);
    let written = written.ok_or_else(|| PackageError::NoSchema(package.name.clone()))?;
    let folder = package.manifest_path.parent().unwrap_or(&package.manifest_path).join(written);
    Ok(folder.canonicalize().unwrap_or(folder))
}
