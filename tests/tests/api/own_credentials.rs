//! What the server has for itself opens no door for others.

use std::{fs, path::Path};

use orch_tests::{
    Client, TestServer,
    client::{Identity, Protocol, tls_config},
    objects::NAMESPACES,
    skip::skipped,
};

/// The state of a socket that listens, in the tables of the system.
const LISTENS: &str = "0A";

/// The server's certificates are for servers, and for signing: none is somebody.
#[tokio::test]
async fn the_certificates_of_the_server_identify_nobody() {
    let server = TestServer::start().await;
    let pki = server.data_dir().join("pki");
    let file = |name: &str| fs::read(pki.join(name)).unwrap();
    for (name, status) in [("serving", 401), ("ca", 401), ("admin", 200)] {
        let (certificate, key) = (file(&format!("{name}.crt")), file(&format!("{name}.key")));
        let identity = Identity { certificate: &certificate, key: &key };
        let tls = tls_config(&server.kubeconfig().certificate_authority, Some(identity), Protocol::Http1);
        let client = Client::new(server.address(), tls, Protocol::Http1);
        assert_eq!(client.get(NAMESPACES).await.status, status, "{name}");
    }
}

/// Controllers and reviews of the server call its code. There is no token for them, and no second address.
#[tokio::test]
async fn the_server_listens_once_and_keeps_no_token_for_itself() {
    let server = TestServer::start().await;
    let process = Path::new("/proc").join(server.pid().to_string());
    if !process.exists() {
        skipped("the sockets of the server", "the system has no /proc");
        return;
    }
    let files = fs::read_dir(process.join("fd")).unwrap();
    let own: Vec<String> = files
        .filter_map(|file| Some(fs::read_link(file.ok()?.path()).ok()?.display().to_string()))
        .filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let tables: String = ["net/tcp", "net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(process.join(table)).ok())
        .collect();
    let listening = tables.lines().filter(|line| {
        // Address, peer and state follow the number of the line; the tenth word is the inode.
        let words: Vec<&str> = line.split_whitespace().collect();
        words.get(3) == Some(&LISTENS) && words.get(9).is_some_and(|inode| own.iter().any(|own| own == inode))
    });
    assert_eq!(listening.count(), 1);
    let mut kept: Vec<String> = fs::read_dir(server.data_dir())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.contains("orch.db"))
        .collect();
    kept.sort();
    assert_eq!(kept, ["admin.kubeconfig", "continue.key", "lock", "pki"]);
}
