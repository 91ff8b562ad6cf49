//! Copies that are made and restored while a server is written to, and while everybody is killed.

use std::{
    fs,
    path::Path,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use http::Method;
use orch_tests::{
    Client, TestServer,
    objects::{CONFIG_MAPS, config_map, name, version},
    rounds, seed,
};
use rand::{RngExt, rngs::StdRng};
use tokio::{
    process::Command,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{command, objects, output, perform};

/// Large objects, so that a copy takes long enough to be hit.
const LARGE: usize = 30;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a writer has done: objects with the numbers 0, 1, 2 ...
#[derive(Default)]
struct Written {
    /// How many are acknowledged.
    count: AtomicUsize,
    /// The version of the last one.
    version: AtomicUsize,
    is_over: AtomicBool,
}

impl Written {
    /// Writes object after object until it is told to stop, or until the server is gone.
    async fn write(self: Arc<Self>, admin: Client) {
        while !self.is_over.load(SeqCst) {
            let map = config_map(&numbered(self.count.load(SeqCst)), "1");
            match admin.request(Method::POST, CONFIG_MAPS).json(&map).try_send().await {
                Ok(answer) => self.acknowledged(version(&answer.expect(201))),
                Err(_) => return,
            }
        }
    }

    fn acknowledged(&self, version: &str) {
        self.version.store(version.parse().unwrap(), SeqCst);
        self.count.fetch_add(1, SeqCst);
    }

    /// Learns whether the write whose answer was lost has happened.
    async fn settle(&self, admin: &Client) {
        let next = admin.get(&format!("{CONFIG_MAPS}/{}", numbered(self.count.load(SeqCst)))).await;
        if next.status == 200 {
            self.acknowledged(version(&next.json()));
        }
    }
}

fn numbered(number: usize) -> String {
    format!("w-{number:06}")
}

/// A server and its writer.
struct Site {
    server: TestServer,
    written: Arc<Written>,
    writer: JoinHandle<()>,
    /// How long a copy takes that nobody disturbs.
    usual: Duration,
}

impl Site {
    async fn start() -> Self {
        let server = TestServer::start().await;
        let admin = server.admin();
        for number in 0..LARGE {
            let value = "x".repeat(200_000);
            admin.post(CONFIG_MAPS, &config_map(&format!("large-{number}"), &value)).await.expect(201);
        }
        let began = Instant::now();
        let copy = server.scratch_dir().join("undisturbed");
        let (code, said) = perform("backup", &server.data_dir(), &[copy.to_str().unwrap()]).await;
        assert_eq!(code, Some(0), "{said}");
        let usual = began.elapsed();
        let written = Arc::<Written>::default();
        let writer = tokio::spawn(Arc::clone(&written).write(admin));
        Site { server, written, writer, usual }
    }

    /// Kills the server too; what was acknowledged is there when it is back.
    async fn kill(&mut self) {
        self.server.kill().await;
        timeout(PATIENCE, &mut self.writer).await.expect("it notices").unwrap();
        self.server.restart().await;
        let admin = self.server.admin();
        self.written.settle(&admin).await;
        self.writer = tokio::spawn(Arc::clone(&self.written).write(admin));
    }

    async fn stop(self) -> (TestServer, Arc<Written>) {
        self.written.is_over.store(true, SeqCst);
        timeout(PATIENCE, self.writer).await.expect("it ends").unwrap();
        (self.server, self.written)
    }
}

/// Each copy is one moment of the server, nothing that was acknowledged before it is missing, and no version
/// comes twice, although every first attempt is killed, and every third time the server with it.
#[tokio::test]
async fn copies_are_made_and_restored_beside_writes_and_kills() {
    let mut random = seed::generator("backups");
    let mut site = Site::start().await;
    let rounds = rounds::of_kills(9);
    let mut hit = 0;
    for round in 0..rounds {
        let known = site.written.count.load(SeqCst);
        let data = site.server.data_dir();
        let at = |name: &str| site.server.scratch_dir().join(format!("{name}-{round}"));
        let (copy, restored) = (at("copy"), at("restored"));
        let file = copy.to_str().unwrap();

        let mut copying = begin(command("backup", &data, &[file]));
        sleep(site.usual.mul_f64(random.random())).await;
        if round % 3 == 2 {
            site.kill().await;
        }
        copying.kill().await.unwrap();
        let was_hit = copy.with_added_extension("partial").exists();
        if !copy.exists() {
            let (code, said) = perform("backup", &data, &[file]).await;
            assert_eq!(code, Some(0), "round {round}: {said}");
        }
        let is_hit = killed_restore(&restored, file, site.usual, &mut random).await;
        hit += usize::from(was_hit || is_hit);
        if !restored.join("orch.db").exists() {
            let (code, said) = perform("restore", &restored, &[file]).await;
            assert_eq!(code, Some(0), "round {round}: {said}");
        }
        let newest = site.written.version.load(SeqCst) as u64;
        is_one_moment(&restored, round, known, newest).await;
        fs::remove_file(&copy).unwrap();
        fs::remove_dir_all(restored).unwrap();
    }
    println!("in {hit} of {rounds} rounds a kill hit a copy that was being made or restored");
    assert!(hit > 0, "no kill came while a copy was made or restored");
    let (server, written) = site.stop().await;
    is_served(server, &written).await;
}

fn begin(mut command: Command) -> tokio::process::Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a restore at some moment. Whether it had begun and was not done.
async fn killed_restore(restored: &Path, copy: &str, usual: Duration, random: &mut StdRng) -> bool {
    let mut restoring = begin(command("restore", restored, &[copy]));
    sleep(usual.mul_f64(random.random())).await;
    restoring.kill().await.unwrap();
    restored.join("orch.db.restored").exists()
}

/// A restored database is sound, has all of the first objects up to some number, at least `known`, and gives
/// out no version again.
async fn is_one_moment(restored: &Path, round: usize, known: usize, newest: u64) {
    let (code, said) = perform("check", restored, &[]).await;
    assert_eq!(code, Some(0), "round {round}: {said}");
    let revision: u64 = said.trim().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(revision > newest, "round {round}: {revision} was given out already: {newest}");
    let exported = output(command("export", restored, &["-"])).await;
    assert!(exported.status.success(), "{exported:?}");
    let objects = objects(&exported.stdout);
    let written: Vec<&str> = objects.iter().map(name).filter(|name| name.starts_with("w-")).collect();
    assert!(written.len() >= known, "round {round}: {} of {known} are there", written.len());
    let expected: Vec<String> = (0..written.len()).map(numbered).collect();
    assert_eq!(written, expected, "round {round}: it is not one moment");
}

/// A server goes on with a copy: everything is there, and who knows older versions has to list again.
async fn is_served(mut server: TestServer, written: &Written) {
    let (count, last) = (written.count.load(SeqCst), written.version.load(SeqCst));
    let copy = server.scratch_dir().join("last");
    let file = copy.to_str().unwrap();
    let (code, said) = perform("backup", &server.data_dir(), &[file]).await;
    assert_eq!(code, Some(0), "{said}");
    // What comes after the copy is lost with it; its version is not given out again.
    let late = server.admin().post(CONFIG_MAPS, &config_map("late", "1")).await.expect(201);
    let late: usize = version(&late).parse().unwrap();
    assert!(server.stop().await.success());
    let old = server.scratch_dir().join("old");
    fs::create_dir(&old).unwrap();
    for entry in fs::read_dir(server.data_dir()).unwrap().map(Result::unwrap) {
        if entry.file_name().to_string_lossy().starts_with("orch.db") {
            fs::rename(entry.path(), old.join(entry.file_name())).unwrap();
        }
    }
    let (code, said) = perform("restore", &server.data_dir(), &[file]).await;
    assert_eq!(code, Some(0), "{said}");
    server.restart().await;
    let admin = server.admin();
    let list = admin.get(CONFIG_MAPS).await.expect(200);
    let names: Vec<&str> = list["items"].as_array().unwrap().iter().map(name).collect();
    let served = names.iter().filter(|name| name.starts_with("w-")).count();
    assert_eq!((served, names.contains(&"late")), (count, false));
    assert!(version(&list).parse::<usize>().unwrap() > late);
    for known in [2, last, late] {
        let exact = format!("{CONFIG_MAPS}?resourceVersion={known}&resourceVersionMatch=Exact");
        admin.get(&exact).await.refused(410, "Expired");
        let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={known}")).await;
        let event = watch.event().await;
        assert_eq!((event["type"].as_str(), event["object"]["code"].as_u64()), (Some("ERROR"), Some(410)));
    }
}
