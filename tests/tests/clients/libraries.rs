//! Client libraries in other languages: each runs a short program of ours in `tests/clients`, which fails
//! where the server does not do what the library relies on.

use orch_tests::TestServer;

use crate::{file, installed, program, run};

/// The Go library that most of the ecosystem is built on: typed writes in protobuf, informers, leases,
/// bindings.
#[tokio::test]
async fn the_go_library_works() {
    let Some(path) = installed("the Go library", "client-go") else { return };
    for vocabulary in ["kubernetes", "orch"] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let text = run(program(&server, &path)).await;
        assert!(text.ends_with("done\n"), "{text}");
    }
}

/// Its feature gate is a variable of the environment.
#[tokio::test]
async fn the_go_library_works_in_cbor() {
    let Some(path) = installed("the Go library in CBOR", "client-go") else { return };
    let server = TestServer::options().vocabulary("kubernetes");
    let server = server.flag("--feature-gates=CBORServingAndStorage=true").start().await;
    let mut command = program(&server, &path);
    command.env("KUBE_FEATURE_ClientsAllowCBOR", "true").arg("cbor");
    let text = run(command).await;
    assert!(text.ends_with("done\n"), "{text}");
}

#[tokio::test]
async fn the_python_library_works() {
    let Some(path) = installed("the Python library", "python/bin/python") else { return };
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let mut command = program(&server, &path);
    command.arg(file("python/client.py"));
    let text = run(command).await;
    assert!(text.ends_with("done\n"), "{text}");
}

#[tokio::test]
async fn the_javascript_library_works() {
    let Some(path) = installed("the JavaScript library", "javascript/client.mjs") else { return };
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let mut command = program(&server, "node".as_ref());
    command.arg(path);
    let text = run(command).await;
    assert!(text.ends_with("done\n"), "{text}");
}
