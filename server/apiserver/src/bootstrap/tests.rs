//! What a first, a second and a faulty start find and leave behind.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use orch_config::{Config, Invocation};
use orch_test_catalog::ORCH;

use super::{prepare, shell_word};

pub(super) fn config(directory: &Path, flags: &[&str]) -> Config {
    let data_dir = format!("--data-dir={}", directory.display());
    let flags = ["server", &data_dir].into_iter().chain(flags.iter().copied());
    match orch_config::parse(flags, &[&ORCH]) {
        Ok(Invocation::Serve(config)) => *config,
        other => panic!("{other:?}"),
    }
}

/// The kubeconfig that a start with these flags leaves, after it has listened on `address`.
fn kubeconfig(directory: &Path, flags: &[&str], address: &str) -> String {
    let prepared = prepare(&config(directory, flags)).unwrap();
    prepared.site.introduce(address.parse().unwrap()).unwrap();
    fs::read_to_string(directory.join("admin.kubeconfig")).unwrap()
}

fn value<'t>(text: &'t str, key: &str) -> &'t str {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(key));
    line.unwrap_or_else(|| panic!("no {key} in {text}")).trim_start_matches(": ")
}

#[test]
fn the_kubeconfig_has_everything_that_a_client_needs() {
    let directory = tempfile::tempdir().unwrap();
    let text = kubeconfig(directory.path(), &[], "127.0.0.1:7443");
    assert_eq!(value(&text, "server"), "https://127.0.0.1:7443");
    for (key, file) in [
        ("certificate-authority-data", "ca.crt"),
        ("client-certificate-data", "admin.crt"),
        ("client-key-data", "admin.key"),
    ] {
        let decoded = STANDARD.decode(value(&text, key)).unwrap();
        assert_eq!(decoded, fs::read(directory.path().join("pki").join(file)).unwrap(), "{key}");
    }
    let mode = fs::metadata(directory.path().join("admin.kubeconfig")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_kubeconfig_follows_the_address() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("admin.kubeconfig");
    let first = kubeconfig(directory.path(), &[], "127.0.0.1:7443");
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    let same = kubeconfig(directory.path(), &[], "127.0.0.1:7443");
    assert_eq!((same, fs::metadata(&path).unwrap().modified().unwrap()), (first.clone(), written));

    let moved = kubeconfig(directory.path(), &[], "127.0.0.1:7444");
    assert_eq!(moved, first.replace("7443", "7444"));
    let named = kubeconfig(directory.path(), &["--external-hostname=api.example.com"], "127.0.0.1:7444");
    assert_eq!(value(&named, "server"), "https://api.example.com:7444");
}

#[test]
fn the_server_says_what_to_try_next() {
    let directory = tempfile::tempdir().unwrap();
    let prepared = prepare(&config(directory.path(), &[])).unwrap();
    let expected = format!(
        "Listening on https://127.0.0.1:7443\n\
         Try:\n  export KUBECONFIG={}/admin.kubeconfig\n  kubectl get namespaces\n",
        directory.path().display()
    );
    assert_eq!(prepared.site.introduce("127.0.0.1:7443".parse().unwrap()).unwrap(), expected);
}

#[test]
fn a_data_directory_serves_one_server_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let config = config(directory.path(), &[]);
    let running = prepare(&config).unwrap();
    let error = prepare(&config).err().expect("the directory is taken").to_string();
    assert!(error.starts_with("--data-dir: ") && error.ends_with("is in use by another server"), "{error}");
    drop(running);
    prepare(&config).unwrap();
}

#[test]
fn faulty_files_are_named_with_their_flag() {
    let directory = tempfile::tempdir().unwrap();
    let garbage = directory.path().join("garbage");
    fs::write(&garbage, "s3cret\n").unwrap();
    let garbage = garbage.display();
    for (flag, expected) in [
        (
            "--client-ca-file=no/such.crt".to_owned(),
            "--client-ca-file: cannot read no/such.crt: No such file".to_owned(),
        ),
        (format!("--client-ca-file={garbage}"), format!("--client-ca-file: {garbage}: holds no certificate")),
        (
            "--token-auth-file=no/such.csv".to_owned(),
            "--token-auth-file: cannot read no/such.csv: No such file".to_owned(),
        ),
        (
            format!("--token-auth-file={garbage}"),
            format!("--token-auth-file: {garbage}:1: needs at least 3 columns (token,user,uid), has 1"),
        ),
    ] {
        let error = prepare(&config(directory.path(), &[&flag])).err().expect("must be refused");
        let text = error.to_string();
        assert!(text.starts_with(&expected) && !text.contains("s3cret") && !text.contains('\n'), "{text}");
    }
}

#[test]
fn a_shell_reads_paths_back() {
    for (path, expected) in [
        ("/srv/orch-data/admin.kubeconfig", "/srv/orch-data/admin.kubeconfig"),
        ("/my data/it's", r"'/my data/it'\''s'"),
    ] {
        assert_eq!(shell_word(Path::new(path)), expected);
    }
}
