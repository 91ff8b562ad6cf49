//! The published documents, in the eyes of a validator that is not ours.

use std::path::Path;

use orch_tests::{TestServer, skip::skipped};
use serde_json::Value;
use tokio::process::Command;

use crate::{file, installed, program, run};

/// The Python that has the validator: `.ci/run` installs it in an environment of its own.
pub(crate) fn python() -> Option<String> {
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
    // Those of versions that are off by default too.
    let server = TestServer::options().flag("--runtime-config=api/all=true").start().await;
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
    let path = server.scratch_dir().join("v2.json");
    write(&path, &admin.get("/openapi/v2").await.expect(200));
    command.arg(path);
    let text = run(command).await;
    assert!(text.ends_with(&format!("{} documents are valid\n", paths.len() + 1)), "{text}");
}

/// Swagger UI is a page around a library, which is asked here without a browser.
#[tokio::test]
async fn swagger_ui_reads_the_documents() {
    let Some(program_file) = installed("reading the documents as Swagger UI does", "javascript/swagger.mjs")
    else {
        return;
    };
    let server = TestServer::start().await;
    let mut command = program(&server, "node".as_ref());
    command.arg(program_file);
    for (number, path) in ["/openapi/v2", "/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1"].iter().enumerate()
    {
        let file = server.scratch_dir().join(format!("{number}.json"));
        write(&file, &server.admin().get(path).await.expect(200));
        command.arg(file);
    }
    let text = run(command).await;
    assert!(text.starts_with("3 documents, "), "{text}");
}

/// The generator makes a client of a document, and a program does the usual with it: of one version of the
/// API, and of the document of all versions that older generators read.
#[tokio::test]
async fn a_generated_client_works() {
    let what = "a generated client";
    let Some(generator) = installed(what, "openapi-generator.jar") else { return };
    let Some(python) = installed(what, "python/bin/python") else { return };
    let server = TestServer::start().await;
    for (name, path) in [("v3", "/openapi/v3/apis/coordination.orch.io/v1"), ("v2", "/openapi/v2")] {
        let document = server.admin().get(path).await.expect(200);
        let source = server.scratch_dir().join(format!("{name}.json"));
        let package = server.scratch_dir().join(name);
        write(&source, &document);
        let mut command = program(&server, "java".as_ref());
        command.arg("-jar").arg(&generator).args(["generate", "-g", "python", "--package-name", "leases"]);
        // Only what is needed to use it.
        let parts = "apis,models,supportingFiles,apiDocs=false,modelDocs=false";
        command.arg("--global-property").arg(parts).arg("-i").arg(source).arg("-o").arg(&package);
        run(command).await;
        let mut command = program(&server, &python);
        command.arg(file("python/generated.py")).env("PYTHONPATH", package);
        let text = run(command).await;
        assert!(text.ends_with("done\n"), "{name}: {text}");
    }
}

fn write(path: &Path, document: &Value) {
    std::fs::write(path, document.to_string()).unwrap();
}
