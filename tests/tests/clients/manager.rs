//! The reference's controller manager, unmodified, in place of controllers of the server. `.ci/run reference`
//! builds it, which takes a while.

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
};

use orch_tests::{
    TestServer,
    daemon_sets::{DAEMON_SETS, HASH, REVISIONS, history, is_rolled_out, rolling, set, until, with_image},
    fleet::{Fleet, is_serving},
    kubectl::{Kubectl, is_installed},
    objects::name,
    server::server_binary,
    skip::skipped,
};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::{program, run};

/// The program of the reference.
const PROGRAM: &str = "ORCH_TEST_MANAGER";

const NODES: usize = 20;

/// So many of them may be without a pod that serves: 15%.
const UNAVAILABLE: usize = 3;

/// The flags of a manager whose controllers have the accounts and the rights that are made for them: the one
/// of daemon sets, and the one that takes the taint of new nodes off those that are ready.
const FLAGS: &[&str] = &[
    "--controllers=daemonset-controller,node-lifecycle-controller",
    "--use-service-account-credentials",
    "--node-monitor-grace-period=1h",
    "--enable-garbage-collector=false",
    "--leader-elect=false",
    "--secure-port=0",
    "--kube-api-qps=500",
    "--kube-api-burst=500",
];

/// What the manager says of a write that came after another one; it tries again.
const CONFLICT: &str = "the object has been modified";

fn manager(test: &str) -> Option<PathBuf> {
    let found = std::env::var_os(PROGRAM).map(PathBuf::from);
    if found.is_none() {
        skipped(test, &format!("{PROGRAM} names no program: .ci/run reference builds it"));
    }
    found
}

/// A manager that runs. Where the test fails, it shows its log.
struct Running {
    process: Child,
    log: PathBuf,
}

impl Running {
    fn start(path: &Path, server: &TestServer) -> Self {
        let log = server.scratch_dir().join("manager.log");
        let mut command: Command = program(server, path);
        command.arg(format!("--kubeconfig={}", server.kubeconfig_path().display())).args(FLAGS);
        command.stdout(Stdio::null()).stderr(File::create(&log).unwrap());
        Running { process: command.spawn().expect("the manager can be started"), log }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Ends it, after which its log has no error.
    async fn stop(mut self) {
        assert_eq!(self.process.try_wait().unwrap(), None, "the manager has ended by itself");
        self.process.kill().await.unwrap();
        let log = self.log();
        let errors = log.lines().filter(|line| line.starts_with('E') && !line.contains(CONFLICT));
        assert_eq!(errors.collect::<Vec<_>>(), [""; 0]);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the log of the manager:\n{}", self.log());
        }
    }
}

/// What holds after each event, from when every node has had a pod.
fn within_limits(pods: &BTreeMap<String, Value>) {
    let serving = serving(pods);
    assert!(serving >= NODES - UNAVAILABLE && pods.len() <= NODES, "{serving} of {} serve", pods.len());
}

fn serving(pods: &BTreeMap<String, Value>) -> usize {
    pods.values().filter(|pod| is_serving(pod)).count()
}

/// Machines that are ready, of a server that has no scheduler.
async fn fleet(server: &TestServer) -> Fleet {
    let admin = server.admin();
    let names: Vec<String> = (0..NODES).map(|number| format!("n{number:03}")).collect();
    Fleet::register(&admin, names.iter().cloned()).await;
    let is_ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    for name in names {
        admin.merge(&format!("/api/v1/nodes/{name}/status"), &is_ready).await.expect(200);
    }
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    fleet.schedules = true;
    fleet
}

#[tokio::test]
async fn the_manager_rolls_out_daemon_sets() {
    let Some(path) = manager("daemon sets of the controller manager") else { return };
    let options = TestServer::options().vocabulary("kubernetes");
    let server = options.flag("--controllers=*,-daemonset-controller").start().await;
    let manager = Running::start(&path, &server);
    let admin = server.admin();
    let mut fleet = fleet(&server).await;
    admin.post(DAEMON_SETS, &set("one", &rolling(&json!("15%"), &json!(0)))).await.expect(201);
    until(&admin, &mut fleet, |_| {}, is_rolled_out(NODES)).await;
    assert_eq!(history(&admin).await, [(1, "one".to_owned())]);

    let mut fewest = NODES;
    let look = |pods: &BTreeMap<String, Value>| {
        within_limits(pods);
        fewest = fewest.min(serving(pods));
    };
    admin.merge(&format!("{DAEMON_SETS}/d"), &with_image("two")).await.expect(200);
    until(&admin, &mut fleet, look, is_rolled_out(NODES)).await;
    assert_eq!(fewest, NODES - UNAVAILABLE, "as many at a time as may be");
    assert_eq!(history(&admin).await, [(1, "one".to_owned()), (2, "two".to_owned())]);
    let revisions = admin.get(REVISIONS).await.expect(200);
    let newest = revisions["items"].as_array().unwrap().iter().find(|it| it["revision"] == 2).unwrap();
    let hash = &newest["metadata"]["labels"][HASH];
    assert_eq!(name(newest), format!("d-{}", hash.as_str().unwrap()));
    assert!(fleet.pods.values().all(|pod| pod["metadata"]["labels"][HASH] == *hash));

    if is_installed("kubectl with daemon sets of the controller manager") {
        let machines = async {
            loop {
                fleet.step(within_limits).await;
            }
        };
        tokio::select! { () = machines => {}, () = roll_back(&server) => {} }
    }
    delete(&server, &mut fleet).await;
    manager.stop().await;
}

/// Back to the image before, as people do it.
async fn roll_back(server: &TestServer) {
    let kubectl = Kubectl { server };
    let is_done = ["daemon set \"d\" successfully rolled out"];
    kubectl.shows("rollout status ds/d --timeout=50s", &is_done).await;
    kubectl.shows("rollout history ds/d", &["REVISION", "\n1 ", "\n2 "]).await;
    kubectl.shows("rollout history ds/d --revision=1", &["Image:\tone"]).await;
    kubectl.prints("rollout undo ds/d", "daemonset.apps/d rolled back").await;
    kubectl.shows("rollout status ds/d --timeout=50s", &is_done).await;
    kubectl.prints("get ds d -o jsonpath={..image}", "one").await;
    assert_eq!(history(&server.admin()).await, [(2, "two".to_owned()), (3, "one".to_owned())]);
    let events = ["SuccessfulCreate", "daemonset-controller", "Created pod: d-", "Deleted pod: d-"];
    kubectl.shows("describe ds d", &events).await;
}

/// The server collects what a set of the manager owns, and the manager makes nothing anew.
async fn delete(server: &TestServer, fleet: &mut Fleet) {
    let admin = server.admin();
    let mut watch = admin.watch(&format!("{DAEMON_SETS}?watch=1")).await;
    admin.delete(&format!("{DAEMON_SETS}/d?propagationPolicy=Foreground")).await.expect(200);
    while !fleet.pods.is_empty() {
        fleet.step(|pods| assert!(pods.len() <= NODES)).await;
    }
    while watch.event().await["type"] != "DELETED" {}
    assert_eq!(history(&admin).await, []);
}

/// Sets that the manager has made are those of the server's own controller when that is on again.
#[tokio::test]
async fn the_server_goes_on_with_daemon_sets_of_the_manager() {
    let Some(path) = manager("daemon sets that the controller manager leaves") else { return };
    let options = TestServer::options().vocabulary("kubernetes");
    let mut server = options.flag("--controllers=*,-daemonset-controller").start().await;
    let manager = Running::start(&path, &server);
    let admin = server.admin();
    let mut before = fleet(&server).await;
    admin.post(DAEMON_SETS, &set("one", &rolling(&json!("15%"), &json!(0)))).await.expect(201);
    until(&admin, &mut before, |_| {}, is_rolled_out(NODES)).await;
    manager.stop().await;
    assert!(server.stop().await.success());
    server.restart_as(server_binary(), Vec::new()).await;

    // A new node gets a pod, and all others stay: they have the newest template.
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    Fleet::register(&admin, ["new".to_owned()]).await;
    until(&admin, &mut fleet, |_| {}, is_rolled_out(NODES + 1)).await;
    let stayed = before.pods.keys().filter(|name| fleet.pods.contains_key(*name));
    assert_eq!((stayed.count(), fleet.pods.len()), (NODES, NODES + 1));
    assert_eq!(history(&admin).await, [(1, "one".to_owned())]);
    admin.merge(&format!("{DAEMON_SETS}/d"), &with_image("two")).await.expect(200);
    until(&admin, &mut fleet, |_| {}, is_rolled_out(NODES + 1)).await;
    assert_eq!(history(&admin).await, [(1, "one".to_owned()), (2, "two".to_owned())]);
}

/// Who runs a controller of the manager turns it off by the name that it has there.
#[tokio::test]
async fn every_controller_of_the_manager_can_be_turned_off_here() {
    let Some(path) = manager("names of controllers of the controller manager") else { return };
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let mut command = program(&server, &path);
    command.arg("--help");
    let help = run(command).await;
    let names = help.lines().find_map(|line| line.trim().strip_prefix("All controllers: "));
    let names: Vec<&str> = names.expect("the help names them").split(", ").collect();
    assert!(names.len() > 30 && names.contains(&"daemonset-controller"), "{names:?}");
    let off: Vec<String> = names.iter().map(|name| format!("-{name}")).collect();
    TestServer::options().flag(format!("--controllers=*,{}", off.join(","))).start().await;
}
