//! The generated text of the schemas in `golden/schema` is the expected one. `golden` compiles and runs it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p orch-codegen --test golden_files` rewrites the expected files.

use std::{collections::BTreeMap, env, fs, path::Path};

use orch_codegen::{Inputs, driver, emit, load};

#[test]
fn generated_files_are_the_expected_ones() {
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/expected");
    let files = generate();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        driver::write(&files, &expected).unwrap();
    }
    for file in &files {
        let text = fs::read_to_string(expected.join(&file.path)).unwrap_or_default();
        assert!(text == file.text, "{} differs: look at the change after UPDATE_GOLDEN=1", file.path);
    }
    let kept = count_files(&expected);
    assert_eq!(kept, files.len(), "a file in {} is no longer generated", expected.display());
}

#[test]
fn the_same_schemas_give_the_same_bytes() {
    let (first, second): (BTreeMap<_, _>, BTreeMap<_, _>) = [generate(), generate()]
        .map(|files| files.into_iter().map(|file| (file.path, file.text)).collect())
        .into();
    assert_eq!(first, second);
}

/// What is generated for clients compiles in `examples/controller`.
#[test]
fn clients_are_generated_beside_everything_else() {
    let without: BTreeMap<_, _> = generate().into_iter().map(|file| (file.path, file.text)).collect();
    let with = emit::emit(&model(), "golden", true);
    for file in &with {
        match without.get(&file.path) {
            Some(text) if file.path != "golden.rs" => assert!(*text == file.text, "{} differs", file.path),
            Some(_) => assert!(file.text.contains("pub mod client {"), "{}", file.text),
            None => assert!(file.path.ends_with(".client.rs"), "{}", file.path),
        }
    }
    let kinds = with.iter().find(|file| file.path.ends_with("kinds/v1.client.rs"));
    let kinds = &kinds.expect("there are kinds in it").text;
    for part in ["pub struct Machine {", "impl Serialize for Machine", "Resource for Machine"] {
        assert!(kinds.contains(part), "{part} is not in {kinds}");
    }
    assert!(!kinds.contains("pub struct MachineSpec"), "{kinds}");
}

#[test]
fn show_prints_one_type_alone() {
    let model = model();
    let shown = emit::show(&model, "Machine").unwrap();
    assert!(shown.starts_with("// kinds.example.io.v1.Machine\n"), "{shown}");
    assert!(shown.contains("pub struct Machine {") && shown.contains("ResourceDef"), "{shown}");
    assert!(!shown.contains("pub struct MachineSpec"), "{shown}");
    assert_eq!(emit::show(&model, "kinds.example.io.v1.Machine").unwrap(), shown);
    let error = emit::show(&model, "Maschine").unwrap_err();
    assert_eq!(error.to_string(), "no kind or type is called `Maschine`");
}

fn generate() -> Vec<emit::GeneratedFile> {
    emit::emit(&model(), "golden", false)
}

fn model() -> orch_codegen::model::Model {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/schema");
    let loaded = load(&Inputs { schema: schema.into(), imports: Vec::new() });
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.diagnostics.render());
    loaded.model
}

fn count_files(folder: &Path) -> usize {
    let entries =
        fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).expect("the folder is there");
    let entries = entries.into_iter().map(|entry| entry.path());
    entries.map(|path| if path.is_dir() { count_files(&path) } else { 1 }).sum()
}
