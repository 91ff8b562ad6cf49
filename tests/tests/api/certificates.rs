//! Certificates that the server has issued itself are made anew while it runs, before they end.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use orch_tests::{
    TestServer,
    client::{Protocol, tls_config},
    kubeconfig::Kubeconfig,
};
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair};
use rustls::pki_types::ServerName;

/// How long before its end the server replaces a certificate.
const RENEWAL: Duration = Duration::from_hours(24 * 30);

/// How long after the start that is the case here: enough for a start on a busy machine.
const DELAY: Duration = Duration::from_secs(10);

#[tokio::test]
async fn own_certificates_are_renewed_in_a_running_server() {
    let mut server = TestServer::start().await;
    assert!(server.stop().await.success());
    let directory = server.data_dir().join("pki");
    let end = SystemTime::now() + RENEWAL + DELAY;
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let names = ["localhost", "127.0.0.1", "::1", host.trim()].map(str::to_ascii_lowercase);
    let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
    issue(&directory, "serving", end, ExtendedKeyUsagePurpose::ServerAuth, names);
    issue(&directory, "admin", end, ExtendedKeyUsagePurpose::ClientAuth, Vec::new());
    let issued = ["serving.crt", "admin.crt"].map(|file| fs::read(directory.join(file)).unwrap());

    server.restart().await;
    let first = served(&server).await;
    let now = ["serving.crt", "admin.crt"].map(|file| fs::read(directory.join(file)).unwrap());
    assert_eq!(now, issued, "the start has replaced what was not due yet");
    let shown = ends(&server).await;
    let seconds = end.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    for expected in ["serving", "admin"] {
        assert!(shown.contains(&(expected.to_owned(), seconds)), "{expected}: {shown:?}");
    }

    server.logged("certificates and tokens are read again").await;
    assert!(served(&server).await != first, "new connections get the new certificate");
    let renewed = ["serving.crt", "admin.crt"].map(|file| fs::read(directory.join(file)).unwrap());
    assert!(renewed[0] != issued[0] && renewed[1] != issued[1]);
    let kubeconfig = Kubeconfig::read(&server.kubeconfig_path());
    assert_eq!(kubeconfig.client_certificate, renewed[1], "the kubeconfig has the new certificate");
    let shown = ends(&server).await;
    assert!(!shown.iter().any(|(_, end)| *end == seconds), "{shown:?}");
    let listed: Vec<&str> = shown.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(listed, ["admin", "ca", "serving"]);
    assert!(!server.log().contains("ends soon"), "what is renewed in time is no reason to warn");
}

/// The ends that the metrics show, in seconds since 1970.
async fn ends(server: &TestServer) -> Vec<(String, u64)> {
    let text = server.admin().get("/metrics").await.text();
    let prefix = "apiserver_certificate_expiration_timestamp_seconds{certificate=\"";
    let lines = text.lines().filter_map(|line| line.strip_prefix(prefix)?.split_once("\"} "));
    lines.map(|(name, seconds)| (name.to_owned(), seconds.parse::<f64>().unwrap() as u64)).collect()
}

/// Certificates of operators are theirs to renew; the log and the metrics say when.
#[tokio::test]
async fn what_ends_soon_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_after = (SystemTime::now() + Duration::from_hours(24 * 6)).into();
    fs::write(file("tls.crt"), params.self_signed(&key).unwrap().pem()).unwrap();
    fs::write(file("tls.key"), key.serialize_pem()).unwrap();
    params.not_after = (SystemTime::now() - Duration::from_hours(1)).into();
    fs::write(file("clients.crt"), params.self_signed(&key).unwrap().pem()).unwrap();
    // What the server shows to others is theirs too.
    let webhook = "contexts: [{name: c, context: {cluster: k, user: u}}]\n\
                   clusters: [{name: k, cluster: {server: 'https://localhost:1', certificate-authority: tls.crt}}]\n\
                   users: [{name: u, user: {client-certificate: tls.crt, client-key: tls.key}}]\n";
    fs::write(file("webhook.kubeconfig"), webhook).unwrap();
    let server = TestServer::options()
        .flag(format!("--authentication-token-webhook-config-file={}", file("webhook.kubeconfig").display()))
        .flag(format!("--tls-cert-file={}", file("tls.crt").display()))
        .flag(format!("--tls-private-key-file={}", file("tls.key").display()))
        .flag(format!("--client-ca-file={}", file("clients.crt").display()))
        .start()
        .await;
    server.logged("a certificate ends soon certificate=\"serving\" hours=143").await;
    server.logged("a certificate ends soon certificate=\"authentication-webhook\" hours=143").await;
    server.logged("a certificate has ended certificate=\"client-ca\"").await;
}

/// Puts a certificate of the server's authority and its key in place.
fn issue(directory: &Path, name: &str, end: SystemTime, usage: ExtendedKeyUsagePurpose, names: Vec<String>) {
    let authority = ["ca.crt", "ca.key"].map(|file| fs::read_to_string(directory.join(file)).unwrap());
    let authority_key = KeyPair::from_pem(&authority[1]).unwrap();
    let issuer = Issuer::from_ca_cert_pem(&authority[0], authority_key).unwrap();
    let mut params = CertificateParams::new(names).unwrap();
    params.not_before = (SystemTime::now() - Duration::from_hours(1)).into();
    params.not_after = end.into();
    params.extended_key_usages = vec![usage];
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.distinguished_name.push(DnType::OrganizationName, "system:masters");
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    // The mode of the files stays as it is.
    fs::write(directory.join(format!("{name}.crt")), certificate.pem()).unwrap();
    fs::write(directory.join(format!("{name}.key")), key.serialize_pem()).unwrap();
}

/// The certificate that a new connection gets.
async fn served(server: &TestServer) -> Vec<u8> {
    let tls = tls_config(&server.kubeconfig().certificate_authority, None, Protocol::Http1);
    let stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let name = ServerName::IpAddress(server.address().ip().into());
    let stream = tokio_rustls::TlsConnector::from(tls).connect(name, stream).await.unwrap();
    stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}
