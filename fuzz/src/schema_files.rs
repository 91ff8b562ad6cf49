//! Schema files: whatever stands in one is accepted or reported, and never ends the generator.

use std::fs;

use orch_codegen::{Inputs, load};

pub fn run(input: &[u8]) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let folder = directory.path().join("fuzz.example.io/v1");
    fs::create_dir_all(&folder).expect("a folder can be made");
    fs::write(folder.join("thing.yaml"), input).expect("a file can be written");
    let _ = load(&Inputs { schema: directory.path().into(), imports: Vec::new() });
}
