//! What the README tells a reader to do: its schema file goes into the folder of the example, which is built.
//! The whole files that the guide to schemas shows are built with it, each as a group of its own.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

const EXAMPLE: &str = "../../examples/widgets";
const README: &str = "../../README.md";
const GUIDE: &str = "../../schema/README.md";
/// The group of the files in the guide.
const GROUP: &str = "example.orch.io";

fn main() -> ExitCode {
    // Cargo sets it for every build script.
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let schema = out.join("schema");
    if let Err(error) = prepare(&schema) {
        eprintln!("error: the schema folder of the example cannot be prepared: {error}");
        return ExitCode::FAILURE;
    }
    let code = orch_codegen::Build::new(schema).run();
    // The example includes a file of its own name.
    match fs::rename(out.join("gadgets.rs"), out.join("widgets.rs")) {
        Ok(()) => code,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Copies the folder of the example, and adds the file.
fn prepare(schema: &Path) -> io::Result<()> {
    let original = Path::new(EXAMPLE).join("schema");
    for path in [&original, Path::new(README), Path::new(GUIDE)] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    if schema.exists() {
        fs::remove_dir_all(schema)?;
    }
    copy_folder(&original, schema)?;
    let readme = fs::read_to_string(README)?;
    let block = readme.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    fs::write(schema.join("example.orch.io/v1/gadget.yaml"), block.unwrap_or_default())?;
    let guide = fs::read_to_string(GUIDE)?;
    let blocks = guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    for (index, file) in blocks.filter(|block| block.starts_with("openapi:")).enumerate() {
        let group = format!("guide{index}.orch.io");
        let folder = schema.join(&group).join("v1");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("guide.yaml"), file.replace(GROUP, &group))?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}
