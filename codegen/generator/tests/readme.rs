//! The schema files that `schema/README.md` shows are right, and Rust can be made of them.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{fs, path::Path};

use orch_codegen::{Inputs, emit, load};

#[test]
fn the_examples_of_the_readme_are_right() {
    let readme = fs::read_to_string("../../schema/README.md").unwrap();
    let blocks = readme.split("```yaml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let examples: Vec<&str> = blocks.filter(|block| block.starts_with("openapi:")).collect();
    assert!(examples.len() > 1, "the README shows schema files");
    for example in examples {
        let folder = tempfile::tempdir().unwrap();
        let version = folder.path().join("example.orch.io/v1");
        fs::create_dir_all(&version).unwrap();
        fs::write(version.join("example.yaml"), example).unwrap();
        let imports = vec![("orch_api".to_owned(), "tests/fixtures/meta".into())];
        let loaded = load(&Inputs { schema: folder.path().into(), imports });
        assert!(loaded.diagnostics.counts().0 == 0, "{example}\n{}", loaded.diagnostics.render());
        for file in emit::emit(&loaded.model, "example", false) {
            let is_rust = Path::new(&file.path).extension().is_some_and(|extension| extension == "rs");
            assert!(!is_rust || syn::parse_file(&file.text).is_ok(), "{}", file.text);
        }
    }
}
