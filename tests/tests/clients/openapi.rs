//! The published documents, in the eyes of a validator that is not ours.

use std::path::Path;

use orch_tests::{TestServer, skip::skipped};
use serde_json::Value;
use tokio::process::Command;

use crate::{file, run};

/// The Python that has the validator: `.ci/run` installs it in an environment of its own.
fn python() -> Option<String> {
    let named = std::env::var("ORCH_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = std::process::Command::new(&named).args(["-c", "import openapi_spec_validator"]).output();
    found.is_ok_and(|output| output.status.success()).then_some(named)
}

#[tokio::test]
async fn every_published_document_is_valid() {
    let Some(python) = python() else {
        skipped("the validity of the OpenAPI documents", "openapi-spec-validator is not installed");
        return;
    };
    let server = TestServer::start().await;
    let admin = server.admin();
    let index = admin.get("/openapi/v3").await.expect(200);
    let paths = index["paths"].as_object().unwrap();
    assert!(paths.len() > 5, "{index}");
    let mut command = Command::new(python);
    command.arg(file("python/validate_openapi.py"));
    for (name, entry) in paths {
        let document = admin.get(entry["serverRelativeURL"].as_str().unwrap()).await.expect(200);
        let path = server.scratch_dir().join(format!("{}.json", name.replace('/', "_")));
        write(&path, &document);
        command.arg(path);
    }
    let text = run(command).await;
    assert!(text.ends_with(&format!("{} documents are valid\n", paths.len())), "{text}");
}

fn write(path: &Path, document: &Value) {
    std::fs::write(path, document.to_string()).unwrap();
}
