//! What is refused, in one line, without credentials.

use std::fs;

use super::read;

fn problem(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    fs::write(&file, text).unwrap();
    match read(&file) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string().replace(&folder.path().display().to_string(), ""),
    }
}

fn with(cluster: &str, user: &str) -> String {
    format!(
        "contexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
         clusters: [{{name: k, cluster: {cluster}}}]\nusers: [{{name: u, user: {user}}}]\n"
    )
}

#[test]
fn wrong_files_are_told_in_one_line() {
    let server = "{server: 'http://a.example/x'}";
    for (text, expected) in [
        (with(server, "{}"), "fine"),
        (with(server, "{token: secret}"), "fine"),
        ("clusters: [".to_owned(), "/config: line 1, column 11: not a kubeconfig file"),
        (String::new(), "/config: there is no current-context"),
        ("current-context: x".to_owned(), "/config: there is no context \"x\""),
        ("contexts: [{name: c, context: {cluster: k}}]".to_owned(), "/config: there is no cluster \"k\""),
        (
            with("{server: 'a.example'}", "{}"),
            "/config: \"a.example\" does not begin with https:// or http://",
        ),
        (
            with("{server: 'https://u:secret@a.example'}", "{}"),
            "/config: an address must not hold a user or password",
        ),
        (
            with("{server: 'https://a', insecure-skip-tls-verify: true}", "{}"),
            "/config: insecure-skip-tls-verify is not supported",
        ),
        (with("{server: 'https://a', proxy-url: 'http://b'}", "{}"), "/config: proxy-url is not supported"),
        (with(server, "{exec: {command: c}}"), "/config: exec is not supported"),
        (
            with("{server: 'https://a', certificate-authority-data: '?'}", "{}"),
            "/config: certificate-authority-data is not in base64",
        ),
        (
            with("{server: 'https://a', certificate-authority-data: eA==}", "{}"),
            "/config: there is no certificate of an authority",
        ),
        (with("{server: 'https://a', certificate-authority: gone}", "{}"), "cannot read /gone"),
        (with(server, "{tokenFile: gone}"), "cannot read /gone"),
        (
            with(server, "{token: \"secret\\n\"}"),
            "/config: a credential has characters that no header may have",
        ),
        (
            with(server, "{client-certificate-data: eA==}"),
            "/config: a client certificate and its key go together",
        ),
    ] {
        let found = problem(&text);
        assert_eq!(found, expected, "{text}");
        assert!(!found.contains("secret"), "{found}");
    }
    let found = problem("users: [{name: u, user: {token: [secret]}}]");
    assert!(found.ends_with("not a kubeconfig file") && !found.contains("secret"), "{found}");
}
