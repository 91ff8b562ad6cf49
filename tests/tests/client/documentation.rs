//! `docs/RUST.md` says what is so: its Rust and TOML are those of the example, and its plugin works.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use orch_client::Settings;
use serde_json::json;

use crate::{name, plugin::write_kubeconfig, start};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned()
}

/// The contents of the fenced blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn page() -> String {
    fs::read_to_string(root().join("docs/RUST.md")).unwrap()
}

#[test]
fn its_code_is_that_of_the_example() {
    let example = root().join("examples/controller");
    let read = |name: &str| fs::read_to_string(example.join(name)).unwrap();
    let (main, tests, manifest) = (read("src/main.rs"), read("src/tests.rs"), read("Cargo.toml"));
    let (rust, toml) = (blocks(&page(), "rust"), blocks(&page(), "toml"));
    assert!(rust.len() >= 4 && !toml.is_empty(), "the blocks are not found");
    for block in rust {
        assert!(main.contains(&block) || tests.contains(&block), "the example has no\n{block}");
    }
    for block in toml {
        assert!(manifest.contains(&block), "the manifest of the example has no\n{block}");
    }
    assert!(main.lines().count() < 60, "the page says that it is short");
}

#[tokio::test]
async fn its_plugin_works() {
    let server = start("orch").await;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let [script] = blocks(&page(), "sh").try_into().expect("the page has one plugin");
    fs::write(path("plugin"), script).unwrap();
    fs::set_permissions(path("plugin"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(path("token"), "tok-bob").unwrap();
    let [user] = blocks(&page(), "yaml").try_into().expect("the page has one user");
    // Another file has the cluster, and a context for the user of this one.
    let user = user.lines().fold("users:\n- name: documented\n  user:\n".to_owned(), |text, line| {
        // The plugin is called where the test runs.
        let line = line.replace("[token]", &format!("[{}]", path("token").display()));
        text + "    " + &line + "\n"
    });
    fs::write(path("user"), user).unwrap();
    write_kubeconfig(&path("config"), &server, &json!({}), &json!({}));
    let settings = Settings::new().file(path("config")).file(path("user")).user("documented");
    assert_eq!(name(&settings.client().unwrap(), &server).await.unwrap(), "bob");
}
