//! An authority over the years.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use orch_config::start_error::StartError;
use rustls::pki_types::ServerName;

use super::{AUTHORITY_LIFE, Authority, DAY, Identity, RENEWAL};

/// Some time in 2025.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000)
}

fn names(names: &[&'static str]) -> Vec<ServerName<'static>> {
    names.iter().map(|name| ServerName::try_from(*name).unwrap()).collect()
}

const LOCAL: &[&str] = &["localhost", "127.0.0.1", "::1"];

/// Everything that a start at `now` yields, as PEM.
fn start_at(
    directory: &Path,
    served_names: &[&'static str],
    now: SystemTime,
) -> Result<[String; 3], StartError> {
    let authority = Authority::ensure(directory, now)?;
    let serving = authority.serving(&names(served_names), now)?;
    let administrator = authority.administrator(now)?;
    let pem = |identity: Identity| identity.certificate + &identity.key;
    Ok([authority.pem().to_owned(), pem(serving), pem(administrator)])
}

/// Which of authority, serving and administrator certificate differ.
fn changed(before: &[String; 3], after: &[String; 3]) -> [bool; 3] {
    std::array::from_fn(|index| before[index] != after[index])
}

#[test]
fn certificates_are_kept_until_they_end_soon_or_do_not_cover_a_name() {
    const KEEP: [bool; 3] = [false, false, false];
    const LEAVES: [bool; 3] = [false, true, true];
    const SERVING: [bool; 3] = [false, true, false];
    const ALL: [bool; 3] = [true, true, true];
    // Certificates live for 365 days and the authority for 3650; the last 30 days are for renewal.
    for (served_names, day, expected) in [
        (LOCAL, 0, KEEP),
        (LOCAL, 334, KEEP),
        (LOCAL, 336, LEAVES),
        (LOCAL, 366, LEAVES),
        (LOCAL, 3619, LEAVES),
        (LOCAL, 3621, ALL),
        (LOCAL, 3651, ALL),
        (&["localhost"], 0, KEEP),
        (&["localhost", "127.0.0.1", "::1", "192.0.2.7"], 0, SERVING),
        (&["api.example.com"], 0, SERVING),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let before = start_at(directory.path(), LOCAL, start()).unwrap();
        let after = start_at(directory.path(), served_names, start() + day * DAY).unwrap();
        assert_eq!(changed(&before, &after), expected, "{served_names:?} {day}");
        let again = start_at(directory.path(), served_names, start() + day * DAY).unwrap();
        assert_eq!(changed(&after, &again), KEEP, "{served_names:?} {day}");
    }
}

/// A machine without a clock of its own may begin years ahead, or in 1970.
#[test]
fn certificates_are_valid_when_a_clock_is_set_right() {
    for (wrong, changes) in [
        (start() + 400 * DAY, [false; 3]),
        // These ended long ago.
        (SystemTime::UNIX_EPOCH + DAY / 2, [true; 3]),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let before = start_at(directory.path(), LOCAL, wrong).unwrap();
        let after = start_at(directory.path(), LOCAL, start()).unwrap();
        assert_eq!(changed(&before, &after), changes);
        let authority = Authority::ensure(directory.path(), start()).unwrap();
        assert!(authority.begin < start() - 365 * DAY);
    }
}

#[test]
fn the_key_of_the_administrator_is_in_a_form_that_every_client_reads() {
    let directory = tempfile::tempdir().unwrap();
    let [_, serving, administrator] = start_at(directory.path(), LOCAL, start()).unwrap();
    assert!(administrator.contains("-----BEGIN EC PRIVATE KEY-----\n"), "SEC 1");
    assert!(serving.contains("-----BEGIN PRIVATE KEY-----\n"), "PKCS #8");
}

#[test]
fn no_certificate_outlives_its_authority() {
    let directory = tempfile::tempdir().unwrap();
    start_at(directory.path(), LOCAL, start()).unwrap();
    let late = start() + AUTHORITY_LIFE - RENEWAL - DAY;
    let authority = Authority::ensure(directory.path(), late).unwrap();
    let identity = authority.administrator(late).unwrap();
    let pem = super::parse_certificate(Path::new(""), &identity.certificate).unwrap();
    let (_, parsed) = <super::X509Certificate<'_> as super::FromDer<_>>::from_der(&pem).unwrap();
    let end = SystemTime::UNIX_EPOCH + Duration::from_secs(parsed.validity().not_after.timestamp() as u64);
    assert_eq!(end, authority.end);
}

#[test]
fn a_lost_certificate_or_key_is_made_anew_but_not_the_authority() {
    for (lost, expected) in [
        ("serving.crt", [false, true, false]),
        ("serving.key", [false, true, false]),
        ("admin.key", [false, false, true]),
        // A crash between the two files of a first start leaves a key without a certificate.
        ("ca.crt", [true, true, true]),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let before = start_at(directory.path(), LOCAL, start()).unwrap();
        std::fs::remove_file(directory.path().join(lost)).unwrap();
        let after = start_at(directory.path(), LOCAL, start()).unwrap();
        assert_eq!(changed(&before, &after), expected, "{lost}");
    }
}

#[test]
fn a_key_of_another_certificate_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let before = start_at(directory.path(), LOCAL, start()).unwrap();
    std::fs::copy(directory.path().join("admin.key"), directory.path().join("serving.key")).unwrap();
    let after = start_at(directory.path(), LOCAL, start()).unwrap();
    assert_eq!(changed(&before, &after), [false, true, false]);
}

#[test]
fn broken_files_are_named_and_kept() {
    type Content = fn(&Path) -> String;
    let garbage = |_: &Path| "garbage".to_owned();
    let other_key = |directory: &Path| std::fs::read_to_string(directory.join("admin.key")).unwrap();
    let not_der = |_: &Path| "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned();
    for (file, content, expected) in [
        ("ca.crt", garbage as Content, "holds no certificate"),
        ("ca.crt", not_der as Content, "is not a certificate"),
        ("ca.key", garbage as Content, "is not a private key in PEM"),
        ("ca.key", other_key as Content, "does not belong to ca.crt"),
        ("serving.crt", garbage as Content, "holds no certificate"),
        ("admin.key", garbage as Content, "holds no private key"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        start_at(directory.path(), LOCAL, start()).unwrap();
        let path = directory.path().join(file);
        let content = content(directory.path());
        std::fs::write(&path, &content).unwrap();
        let error = start_at(directory.path(), LOCAL, start()).unwrap_err().to_string();
        assert!(error.starts_with(path.to_str().unwrap()) && error.contains(expected), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn an_authority_without_its_key_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    start_at(directory.path(), LOCAL, start()).unwrap();
    std::fs::remove_file(directory.path().join("ca.key")).unwrap();
    let error = start_at(directory.path(), LOCAL, start()).unwrap_err().to_string();
    assert!(error.contains("ca.key: is missing; restore it"), "{error}");
}

#[test]
fn only_the_server_reads_its_keys() {
    let directory = tempfile::tempdir().unwrap();
    start_at(directory.path(), LOCAL, start()).unwrap();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let modes: Vec<_> = files
        .iter()
        .map(|file| {
            let mode = std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
            (file.file_name().unwrap().to_str().unwrap(), mode)
        })
        .collect();
    assert_eq!(
        modes,
        [
            ("admin.crt", 0o644),
            ("admin.key", 0o600),
            ("ca.crt", 0o644),
            ("ca.key", 0o600),
            ("serving.crt", 0o644),
            ("serving.key", 0o600),
        ]
    );
}
