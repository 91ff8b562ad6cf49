//! A server for one test: a real process on a free port, with a data directory that is removed with it.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdin, Command},
};

use crate::{
    Client,
    client::{Identity, Protocol, Turns, tls_config},
    disk::Disk,
    kubeconfig::Kubeconfig,
    memory_group::MemoryGroup,
};

/// Static tokens: `token,user,uid,groups`. A user's token is `tok-<user>`.
const TOKENS: &str = "\
tok-admin,admin,admin,system:masters
tok-bob,bob,bob,devs
tok-carol,carol,carol,\"ops,devs\"
tok-dave,dave,dave
tok-node,system:node:one,node-one,system:nodes
";

/// Added to the controllers of a server.
const PUBLISHES_NOTHING: &str = ",-root-ca-certificate-publisher-controller";

/// How long a start or an orderly end may take before a test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// The variable, with any value, of a program of tests that reads its standard input itself. Others end with
/// their input.
pub const READS_INPUT: &str = "ORCH_TEST_READS_INPUT";

/// Where servers keep their data, and how many there are over the same data.
const STORAGE: &str = "ORCH_TEST_STORAGE";
const REPLICAS: &str = "ORCH_TEST_REPLICAS";

/// How many lines of a server's log are shown when its test fails.
const SHOWN_LOG_LINES: usize = 40;

/// How a server is started.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    binary: PathBuf,
    vocabulary: &'static str,
    flags: Vec<String>,
    publishes_authority: bool,
    port: u16,
    largest_file: Option<u64>,
    open_files: Option<(u32, u32)>,
    /// The file to which a process writes its number to be in the control group.
    group: Option<PathBuf>,
    log: Option<PathBuf>,
    environment: Vec<(&'static str, String)>,
    prefix: Option<String>,
}

/// A running server. It is killed when this value is dropped.
pub struct TestServer {
    /// Dropped before the directory in which it is mounted.
    disk: Option<Disk>,
    directory: Arc<TempDir>,
    options: ServerOptions,
    process: Option<Running>,
    address: SocketAddr,
    kubeconfig: Kubeconfig,
    /// Others over the same data: clients that are made here ask all of them in turn.
    others: Vec<TestServer>,
    turns: Turns,
}

/// A process, and the end of its input that keeps it alive: waiting for a child closes its input, unless it
/// is taken out.
struct Running {
    child: Child,
    _input: ChildStdin,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            binary: server_binary(),
            vocabulary: "orch",
            flags: Vec::new(),
            publishes_authority: false,
            port: 0,
            largest_file: None,
            open_files: None,
            group: None,
            log: None,
            environment: Vec::new(),
            prefix: None,
        }
    }
}

impl ServerOptions {
    /// The product words to speak.
    pub fn vocabulary(mut self, vocabulary: &'static str) -> Self {
        self.vocabulary = vocabulary;
        self
    }

    /// Another binary than the product's own.
    pub fn binary(mut self, binary: PathBuf) -> Self {
        self.binary = binary;
        self
    }

    /// Lets no file that the server writes grow beyond so many bytes: to the server, the disk is full.
    pub fn largest_file(mut self, bytes: u64) -> Self {
        self.largest_file = Some(bytes);
        self
    }

    /// Lets the server begin with this limit of open files, which it may raise to the second number.
    pub fn open_files(mut self, soft: u32, hard: u32) -> Self {
        self.open_files = Some((soft, hard));
        self
    }

    /// Lets the server write its log to this file; a relative path begins where the data directory `data` is.
    pub fn log(mut self, path: impl Into<PathBuf>) -> Self {
        self.log = Some(path.into());
        self
    }

    /// Sets a variable of the environment.
    pub fn environment(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Starts the server in a control group.
    pub fn memory_group(mut self, group: &MemoryGroup) -> Self {
        self.group = Some(group.processes());
        self
    }

    /// One more flag.
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Lets the server publish its authority in each namespace. Otherwise config maps are those of the test.
    pub fn publish_authority(mut self) -> Self {
        self.publishes_authority = true;
        self
    }

    /// Lets the server write nothing by itself after the start: the store's version is that of the last
    /// write of the test. Otherwise accounts of namespaces may come after it.
    pub fn at_rest(self) -> Self {
        self.flag("--controllers=system-namespaces")
    }

    /// The flags of the test, and which controllers run where it does not say.
    fn flags(&self) -> Vec<String> {
        let controllers = |flag: &String| flag.starts_with("--controllers=");
        let mut flags = self.flags.clone();
        if self.publishes_authority {
            return flags;
        }
        match flags.iter_mut().find(|flag| controllers(flag)) {
            Some(flag) if flag.contains('*') => *flag += PUBLISHES_NOTHING,
            Some(_) => {}
            None => flags.push(format!("--controllers=*{PUBLISHES_NOTHING}")),
        }
        flags
    }

    /// Starts a server on an empty data directory; with `ORCH_TEST_REPLICAS`, so many over the same data.
    pub async fn start(self) -> TestServer {
        let directory = new_directory();
        let mut options = self;
        options.prefix = directory.path().file_name().map(|name| name.to_string_lossy().into_owned());
        let mut server = options.clone().start_in(directory).await;
        let others = (1..replicas()).map(|_| options.clone().start_in(new_directory()));
        server.others = futures_util::future::join_all(others).await;
        server
    }

    /// Starts a server whose data directory is a disk of its own, of so many bytes; `Err` says why this user
    /// cannot make one.
    pub async fn start_on_disk(self, bytes: u64) -> Result<TestServer, String> {
        let directory = new_directory();
        let disk = Disk::mount(data_dir(directory.path()), bytes)?;
        let mut server = self.start_in(directory).await;
        server.disk = Some(disk);
        Ok(server)
    }

    async fn start_in(self, directory: Arc<TempDir>) -> TestServer {
        let mut child = self.command(directory.path()).spawn().expect("the server can be started");
        let input = child.stdin.take().expect("the input is a pipe");
        let announced = tokio::time::timeout(PATIENCE, announced_address(&mut child)).await;
        let Ok(Some(address)) = announced else {
            panic!("the server did not come up\n{}", log_tail(directory.path()));
        };
        let kubeconfig = Kubeconfig::read(&kubeconfig_path(directory.path()));
        let process = Some(Running { child, _input: input });
        let (others, turns) = (Vec::new(), Turns::default());
        TestServer { disk: None, directory, options: self, process, address, kubeconfig, others, turns }
    }

    /// The command that starts the server with these options; its log goes to a file.
    fn command(&self, directory: &Path) -> Command {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(directory.join(self.log.as_deref().unwrap_or(Path::new("log"))))
            .expect("the log can be opened");
        // A write that is too large fails, as on a full disk.
        let size = self.largest_file.map(|bytes| format!(r#"trap "" XFSZ; ulimit -f {};"#, bytes / 512));
        let files = self.open_files.map(|(soft, hard)| format!("ulimit -S -n {soft}; ulimit -H -n {hard};"));
        let group = self.group.as_ref().map(|processes| format!("echo $$ > {};", processes.display()));
        let limits: Vec<String> = size.into_iter().chain(files).chain(group).collect();
        let mut command = if limits.is_empty() {
            Command::new(&self.binary)
        } else {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!(r#"{} exec "$0" "$@""#, limits.concat())).arg(&self.binary);
            shell
        };
        command
            .args(["--data-dir".as_ref(), directory.join("data").as_os_str()])
            .args(["--token-auth-file".as_ref(), directory.join("tokens.csv").as_os_str()])
            .args(["--secure-port", &self.port.to_string(), "--vocabulary", self.vocabulary])
            .args(self.flags())
            .args(storage_flags(directory, self.prefix.as_deref()))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(directory)
            // The server ends when this end of its input is closed: also when the test is killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true);
        command
    }
}

/// How a server keeps its data: in SQLite, or, where `ORCH_TEST_STORAGE` is `etcd=<address>`, in that etcd.
/// Each directory has a prefix of its own there, so that a server that is started again finds its data;
/// others take the prefix of the first one.
fn storage_flags(directory: &Path, prefix: Option<&str>) -> Vec<String> {
    let Ok(storage) = std::env::var(STORAGE) else { return Vec::new() };
    let address = storage.strip_prefix("etcd=").expect("ORCH_TEST_STORAGE is etcd=<address>");
    let own = directory.file_name().expect("it has a name").to_string_lossy();
    let prefix = prefix.unwrap_or(&own);
    vec!["--storage=etcd".to_owned(), format!("--etcd-servers={address}"), format!("--etcd-prefix=/{prefix}")]
}

/// How many servers a test gets where it asks for one.
fn replicas() -> usize {
    let Ok(count) = std::env::var(REPLICAS) else { return 1 };
    assert!(std::env::var_os(STORAGE).is_some(), "{REPLICAS} takes {STORAGE}: SQLite is for one server");
    count.parse().expect("ORCH_TEST_REPLICAS is a number")
}

fn new_directory() -> Arc<TempDir> {
    let directory = TempDir::with_prefix("orch-test-").expect("a temporary directory can be made");
    std::fs::write(directory.path().join("tokens.csv"), TOKENS).expect("the token file can be written");
    Arc::new(directory)
}

impl TestServer {
    /// Starts a server with default options.
    pub async fn start() -> Self {
        Self::options().start().await
    }

    /// Options to start one with.
    pub fn options() -> ServerOptions {
        ServerOptions::default()
    }

    /// The command of a server as it would be started in an empty directory, for tests that expect it to
    /// refuse.
    pub fn command() -> Command {
        let mut command = Command::new(server_binary());
        command.stdin(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// The exit code and the standard error of a server that refuses these flags.
    pub async fn refusal(flags: &[String]) -> (Option<i32>, String) {
        let directory = TempDir::with_prefix("orch-test-").expect("a temporary directory can be made");
        let mut command = TestServer::command();
        command.args(flags).args(["--secure-port=0", "--data-dir"]).arg(directory.path().join("data"));
        let mut process = command.stderr(Stdio::piped()).spawn().expect("the server can be started");
        // The server ends with its input.
        let input = process.stdin.take();
        let output = process.wait_with_output().await.expect("the server ends");
        drop(input);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// `127.0.0.1:<port>`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `https://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The product words it speaks.
    pub fn vocabulary(&self) -> &'static str {
        self.options.vocabulary
    }

    /// The server's data directory.
    pub fn data_dir(&self) -> PathBuf {
        data_dir(self.directory.path())
    }

    /// A directory for the test's own files; it goes away with the server.
    pub fn scratch_dir(&self) -> &Path {
        self.directory.path()
    }

    /// The admin kubeconfig that the server wrote.
    pub fn kubeconfig(&self) -> &Kubeconfig {
        &self.kubeconfig
    }

    /// Its path.
    pub fn kubeconfig_path(&self) -> PathBuf {
        kubeconfig_path(self.directory.path())
    }

    /// Everything that the server has logged so far, where no other file was asked for; and what others have
    /// over the same data.
    pub fn log(&self) -> String {
        if self.options.log.is_some() {
            return String::new();
        }
        let own = std::fs::read_to_string(self.directory.path().join("log")).expect("the log can be read");
        self.others.iter().map(TestServer::log).fold(own, |all, one| all + &one)
    }

    /// Waits until the log has this text: the server writes its log a moment after it answers.
    pub async fn logged(&self, text: &str) {
        let start = std::time::Instant::now();
        while !self.log().contains(text) {
            assert!(start.elapsed() < PATIENCE, "{text:?} is not in the log: {}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.process.as_ref().and_then(|process| process.child.id()).expect("the server runs")
    }

    /// Whether the process was neither stopped nor killed.
    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// The administrator by client certificate.
    pub fn administrator(&self) -> Client {
        self.administrator_over(Protocol::Http1)
    }

    /// The administrator by client certificate, over a given protocol.
    pub fn administrator_over(&self, protocol: Protocol) -> Client {
        let config = &self.kubeconfig;
        let identity = Identity { certificate: &config.client_certificate, key: &config.client_key };
        let tls = tls_config(&config.certificate_authority, Some(identity), protocol);
        self.client(tls, protocol)
    }

    /// A client of this server, and of others over the same data.
    fn client(&self, tls: Arc<rustls::ClientConfig>, protocol: Protocol) -> Client {
        let others = self.others.iter().map(|other| other.address);
        let addresses = std::iter::once(self.address).chain(others).collect();
        Client::in_turn(addresses, &self.turns, tls, protocol)
    }

    /// A user of the token file: `admin`, `bob`, `carol`, `dave`; and `node`, which is the node `one`.
    pub fn user(&self, name: &str) -> Client {
        self.without_credentials().with_token(&format!("tok-{name}"))
    }

    /// The administrator by token.
    pub fn admin(&self) -> Client {
        self.user("admin")
    }

    /// A client without credentials.
    pub fn without_credentials(&self) -> Client {
        let tls = tls_config(&self.kubeconfig.certificate_authority, None, Protocol::Http1);
        self.client(tls, Protocol::Http1)
    }

    /// Ends the process as a power cut would.
    pub async fn kill(&mut self) {
        let others = self.others.iter_mut().map(|other| other.process.take());
        for process in std::iter::once(self.process.take()).chain(others) {
            let mut process = process.expect("the server runs");
            process.child.kill().await.expect("the server can be killed");
        }
    }

    /// Stops the process where it is, or lets it go on.
    pub async fn pause(&self, is_paused: bool) {
        self.signal(if is_paused { "STOP" } else { "CONT" }).await;
    }

    /// Sends SIGTERM, and does not wait.
    pub async fn terminate(&self) {
        self.signal("TERM").await;
    }

    async fn signal(&self, signal: &str) {
        let others = self.others.iter().map(TestServer::pid);
        let all: Vec<String> = std::iter::once(self.pid()).chain(others).map(|pid| pid.to_string()).collect();
        let command = format!("kill -{signal} {}", all.join(" "));
        let status = Command::new("sh").args(["-c", &command]).status().await;
        assert!(status.expect("sh runs").success(), "{command}");
    }

    /// Waits for the process to end by itself.
    pub async fn exited(&mut self) -> ExitStatus {
        let status = self.one_exited().await;
        for other in &mut self.others {
            assert_eq!(other.one_exited().await, status, "all servers end alike");
        }
        status
    }

    async fn one_exited(&mut self) -> ExitStatus {
        let process = self.process.as_mut().expect("the server runs");
        let status = tokio::time::timeout(PATIENCE, process.child.wait()).await;
        let status = status.expect("the server ends in time").expect("the server can be waited for");
        self.process = None;
        status
    }

    /// Sends SIGTERM, and waits for the end.
    pub async fn stop(&mut self) -> ExitStatus {
        self.terminate().await;
        self.exited().await
    }

    /// As [`Self::restart`], with one more flag.
    pub async fn restart_with(&mut self, flag: &str) {
        self.options.flags.push(flag.to_owned());
        self.restart().await;
    }

    /// As [`Self::restart`], with another program and its flags.
    pub async fn restart_as(&mut self, binary: PathBuf, flags: Vec<String>) {
        self.options.binary = binary;
        self.options.flags = flags;
        self.restart().await;
    }

    /// Starts again on the same data directory and port, and without a limit of file sizes.
    pub async fn restart(&mut self) {
        self.restart_one().await;
        for other in &mut self.others {
            other.options = self.options.clone();
            other.restart_one().await;
        }
    }

    async fn restart_one(&mut self) {
        assert!(self.process.is_none(), "the server still runs");
        let mut options = self.options.clone();
        options.port = self.address.port();
        options.largest_file = None;
        let mut started = options.start_in(Arc::clone(&self.directory)).await;
        self.process = started.process.take();
        self.kubeconfig = started.kubeconfig.clone();
    }
}

impl Drop for TestServer {
    /// A failing test shows the log. No test may make the server panic, whatever else it is about.
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", log_tail(self.directory.path()));
            return;
        }
        let log = self.log();
        let bug =
            log.lines().find(|line| line.contains("the server has a bug") || line.contains("panicked at"));
        if let Some(line) = bug {
            panic!("the server has a bug: {line}");
        }
    }
}

/// Reads the server's output up to the line that says where it listens; `None` where it ends before.
async fn announced_address(process: &mut Child) -> Option<SocketAddr> {
    let output = process.stdout.take().expect("the output is a pipe");
    let mut lines = BufReader::new(output).lines();
    loop {
        let line = lines.next_line().await.expect("the output is text")?;
        let url = line.split_whitespace().find_map(|word| word.strip_prefix("https://"));
        if let Some(address) = url.and_then(|url| url.trim_end_matches(['.', ',', '/']).parse().ok()) {
            // The test reads no further. The pipe is kept open, so that the server can still write.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Some(address);
        }
    }
}

/// The server's binary. It lies beside the directory of the test executables.
pub fn server_binary() -> PathBuf {
    let mut path = std::env::current_exe().expect("the test knows its path");
    path.pop();
    if path.ends_with("deps") {
        path.pop();
    }
    path.push(format!("orch-test-server{}", std::env::consts::EXE_SUFFIX));
    path
}

fn data_dir(directory: &Path) -> PathBuf {
    directory.join("data")
}

fn kubeconfig_path(directory: &Path) -> PathBuf {
    data_dir(directory).join("admin.kubeconfig")
}

fn log_tail(directory: &Path) -> String {
    let log = std::fs::read_to_string(directory.join("log")).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    let shown = &lines[lines.len().saturating_sub(SHOWN_LOG_LINES)..];
    format!("--- end of the server's log ---\n{}\n--- ---", shown.join("\n"))
}
