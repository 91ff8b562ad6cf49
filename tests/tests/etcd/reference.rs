//! The reference server reads what this one has written, and the other way: the values as they are in etcd,
//! at the keys where the other one looks for them. `.ci/run reference` builds one, which takes a while.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use http::Method;
use orch_tests::{
    Client, TestServer,
    authority::Authority,
    client::{Protocol, tls_config},
    skip::left_out,
};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::{gateway, member::Member, replicas::over};

/// The program of the reference.
const PROGRAM: &str = "ORCH_TEST_REFERENCE";

/// Resources that the reference keeps under other names than those of the API.
const OTHER_NAMES: [(&str, &str); 3] =
    [("services", "services/specs"), ("endpoints", "services/endpoints"), ("nodes", "minions")];

const PATIENCE: Duration = Duration::from_mins(2);

/// One object that was made, and where it is.
struct Made {
    path: String,
    resource: String,
    place: String,
}

impl Made {
    /// The key of this server.
    fn ours(&self, prefix: &str) -> String {
        format!("{prefix}/{}/{}", self.resource, self.place)
    }

    /// The key of the reference.
    fn theirs(&self) -> String {
        format!("/registry/{}/{}", of_reference(&self.resource), self.place)
    }
}

/// The name of a resource in keys of the reference.
fn of_reference(resource: &str) -> &str {
    let plural = resource.split('.').next().unwrap_or_default();
    OTHER_NAMES.iter().find(|(name, _)| *name == plural).map_or(plural, |(_, other)| other)
}

/// A kind: its path in the API up to the namespace, what discovery says of it, and its name in keys of etcd.
struct Served {
    base: String,
    resource: Value,
    stored: String,
}

async fn served(client: &Client, version: &str, kind: &str) -> Served {
    let base = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
    let list = client.get(&base).await.expect(200);
    let mut resources = list["resources"].as_array().expect("a list").iter();
    let is_it = |resource: &&Value| {
        resource["kind"] == kind && !resource["name"].as_str().is_some_and(|name| name.contains('/'))
    };
    let resource = resources.find(is_it).unwrap_or_else(|| panic!("{version} {kind} is not served")).clone();
    let name = resource["name"].as_str().expect("it has a name");
    let stored = match version.split_once('/') {
        Some((group, _)) => format!("{name}.{group}"),
        None => name.to_owned(),
    };
    Served { base, resource, stored }
}

/// The texts of all manifests.
fn manifests() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests");
    let files = std::fs::read_dir(folder).expect("there are manifests");
    let texts = files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("it is text"));
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts
}

/// Makes the objects of all manifests.
async fn make_all(client: &Client) -> Vec<Made> {
    let texts = manifests();
    let mut documents: Vec<&str> = texts.iter().flat_map(|text| text.split("\n---\n")).collect();
    // A namespace is there before its content.
    documents.sort_by_key(|document| !document.contains("kind: Namespace"));
    let mut made = Vec::new();
    for document in documents {
        let field = |name: &str| document.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let (version, kind) = (field("apiVersion:").expect("a version"), field("kind:").expect("a kind"));
        let Served { base, resource, stored } = served(client, version, kind).await;
        let is_in_namespace = resource["namespaced"] == true;
        let (_, namespace) =
            field("metadata:").and_then(|line| line.split_once("namespace: ")).unwrap_or_default();
        let namespace = if namespace.is_empty() { "default" } else { namespace.trim_end_matches('}') };
        let plural = resource["name"].as_str().expect("it has a name");
        let space = if is_in_namespace { format!("/namespaces/{namespace}") } else { String::new() };
        let all = format!("{base}{space}/{plural}");
        let request = client.request(Method::POST, &all).body("application/yaml", document.to_owned());
        let object = request.header("accept", "application/json").send().await.expect(201);
        let name = orch_tests::objects::name(&object);
        let place = if is_in_namespace { format!("{namespace}/{name}") } else { name.to_owned() };
        made.push(Made { path: format!("{all}/{name}"), resource: stored, place });
    }
    made
}

/// The reference, which ends with the test.
struct Reference {
    process: Child,
    client: Client,
}

impl Reference {
    async fn start(program: &Path, member: &Member, directory: &Path) -> Self {
        let authority = Authority::new("reference");
        let (certificate, key) = authority.server_pair("127.0.0.1");
        for (name, text) in [
            ("server.crt", &*certificate),
            ("server.key", &*key),
            ("tokens.csv", "tok-admin,admin,admin,system:masters\n"),
        ] {
            std::fs::write(directory.join(name), text).expect("the file can be written");
        }
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let address: SocketAddr = free.expect("there is a free port");
        let log = std::fs::File::create(directory.join("log")).expect("the file can be made");
        let process = Command::new(program)
            .current_dir(directory)
            .args([&format!("--etcd-servers={}", member.url), &format!("--secure-port={}", address.port())])
            .args(["--etcd-prefix=/registry", "--bind-address=127.0.0.1", "--token-auth-file=tokens.csv"])
            .args(["--tls-cert-file=server.crt", "--tls-private-key-file=server.key"])
            .args(["--service-account-key-file=server.crt", "--service-account-issuer=https://reference"])
            .args(["--service-account-signing-key-file=server.key", "--authorization-mode=RBAC"])
            .args(["--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount"])
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .expect("the reference can be started");
        let tls = tls_config(authority.pem().as_bytes(), None, Protocol::Http1);
        let client = Client::new(address, tls, Protocol::Http1).with_token("tok-admin");
        let began = Instant::now();
        while client.request(Method::GET, "/readyz").try_send().await.map_or(0, |answer| answer.status) != 200
        {
            let log = || std::fs::read_to_string(directory.join("log")).unwrap_or_default();
            assert!(began.elapsed() < PATIENCE, "the reference does not come up: {}", log());
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Self { process, client }
    }

    async fn stop(mut self) {
        self.process.kill().await.expect("it can be killed");
    }
}

/// Kinds that the reference stores only where an alpha feature of it is on, which it is not here.
const NOT_EXCHANGED: &[&str] = &["StorageVersionMigration"];

/// The manifests have each kind that is stored, so a kind that is new is exchanged too.
#[tokio::test]
async fn every_kind_is_exchanged() {
    let server = TestServer::options().vocabulary("kubernetes").flag("--runtime-config=api/all=true");
    let server = server.start().await;
    let client = server.admin();
    let mut places = vec!["/api/v1".to_owned()];
    let groups = client.get("/apis").await.expect(200);
    for group in groups["groups"].as_array().expect("a list") {
        for version in group["versions"].as_array().expect("a list") {
            places.push(format!("/apis/{}", version["groupVersion"].as_str().expect("a text")));
        }
    }
    let mut kinds = BTreeSet::new();
    for place in places {
        let resources = client.get(&place).await.expect(200);
        for resource in resources["resources"].as_array().expect("a list") {
            let can = |verb: &str| resource["verbs"].as_array().expect("a list").iter().any(|it| it == verb);
            if can("create") && can("list") {
                kinds.insert(resource["kind"].as_str().expect("a text").to_owned());
            }
        }
    }
    assert!(kinds.len() > 20, "{kinds:?}");
    let texts = manifests().concat();
    let is_in_one = |kind: &String| texts.lines().any(|line| line.strip_prefix("kind: ") == Some(kind));
    let missing: Vec<_> = kinds.iter().filter(|kind| !is_in_one(kind)).collect();
    assert_eq!(missing, NOT_EXCHANGED, "tests/manifests has no object of these kinds");
}

/// Leaves out what is told without being said: fields that are null, and the version.
fn plain(object: &mut Value) {
    match object {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "resourceVersion" && !value.is_null());
            fields.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

fn program() -> Option<PathBuf> {
    let program = std::env::var_os(PROGRAM).map(PathBuf::from);
    if program.is_none() {
        left_out("exchange with the reference", "ORCH_TEST_REFERENCE names no program");
    }
    program
}

/// Two objects as each server shows them, if they differ.
fn difference(path: &str, mut ours: Value, mut theirs: Value) -> Option<String> {
    plain(&mut ours);
    plain(&mut theirs);
    (ours != theirs).then(|| format!("{path}\n  ours: {ours}\n  theirs: {theirs}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_reference_has_written_is_read_here() {
    let Some(program) = program() else { return };
    let Some(member) = Member::start() else { return };
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let reference = Reference::start(&program, &member, directory.path()).await;
    let made = make_all(&reference.client).await;
    let mut theirs = Vec::new();
    for made in &made {
        theirs.push(reference.client.get(&made.path).await.expect(200));
    }
    reference.stop().await;

    let written = gateway::below(&member, "/registry").await;
    let mut in_protobuf = 0;
    for made in &made {
        let value = written.iter().find(|(key, _)| *key == made.theirs()).map(|(_, value)| value);
        let value = value.unwrap_or_else(|| panic!("{} is not in etcd", made.theirs()));
        in_protobuf += usize::from(value.starts_with(b"k8s\0"));
        gateway::put(&member, &made.ours("/theirs"), value).await;
    }
    // Whose data they are: the reference does not say.
    gateway::put(&member, "/theirs/%cluster", b"8ad4b7e3-6b0c-4b4b-9d0e-5e7f5d7a1c11 kubernetes").await;
    // No other controller, so that all stays as it was written.
    let options = over(&member, "/theirs").vocabulary("kubernetes").flag("--controllers=event-expiry");
    let server = options.start().await;
    let mut differ = Vec::new();
    for (made, theirs) in made.iter().zip(theirs) {
        let ours = server.admin().get(&made.path).await.json();
        if ours.get("aggregationRule").is_some() {
            // It is put together at the start.
            continue;
        }
        differ.extend(difference(&made.path, ours, theirs));
    }
    println!("{} objects of the reference are read, {in_protobuf} of them in protobuf", made.len());
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(in_protobuf > 0);
    // Objects that are changed stay what they were otherwise.
    let path = &made.iter().find(|made| made.resource == "nodes").expect("there is a node").path;
    let before = server.admin().get(path).await.expect(200);
    let changed =
        server.admin().merge(path, &json!({"metadata": {"labels": {"seen": "here"}}})).await.expect(200);
    assert_eq!(
        (&changed["spec"], &changed["metadata"]["uid"]),
        (&before["spec"], &before["metadata"]["uid"])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_reference_reads_what_is_written_here() {
    let Some(program) = program() else { return };
    let Some(member) = Member::start() else { return };
    let mut server: TestServer = over(&member, "/ours").vocabulary("kubernetes").start().await;
    let made = make_all(&server.admin()).await;
    assert!(server.stop().await.success());

    let written = gateway::below(&member, "/ours").await;
    for (key, value) in &written {
        let rest = key.trim_start_matches("/ours/");
        let (resource, place) = rest.split_once('/').unwrap_or((rest, ""));
        if resource.starts_with('%') {
            continue;
        }
        gateway::put(&member, &format!("/registry/{}/{place}", of_reference(resource)), value).await;
    }
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let reference = Reference::start(&program, &member, directory.path()).await;
    let mut differ = Vec::new();
    for made in &made {
        let (_, value) = written.iter().find(|(key, _)| *key == made.ours("/ours")).expect("it is in etcd");
        let ours: Value = serde_json::from_slice(value).expect("a value is JSON");
        let theirs = reference.client.get(&made.path).await.json();
        differ.extend(difference(&made.path, ours, theirs));
    }
    println!("{} objects are read by the reference", made.len());
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
