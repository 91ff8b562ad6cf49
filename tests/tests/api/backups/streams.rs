//! What subcommands read and write: standard streams, the configuration file of a server, and data that
//! belong to another user.

use std::{
    fs,
    os::unix::fs::{MetadataExt, chown},
    path::Path,
    process::Stdio,
};

use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map},
    server::{READS_INPUT, server_binary},
    skip::skipped,
};
use tokio::{io::AsyncWriteExt, process::Command};

use super::{beside, command, output, perform};

/// A server that has been stopped, with one object more than others.
async fn stopped() -> TestServer {
    let mut server = TestServer::start().await;
    server.admin().post(CONFIG_MAPS, &config_map("kept", "1")).await.expect(201);
    assert!(server.stop().await.success());
    server
}

/// The names of files in a directory that begin like this.
fn files(directory: &Path, prefix: &str) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(prefix)).collect()
}

/// `backup -` in one place, `restore -` in another.
#[tokio::test]
async fn copies_go_through_a_pipe() {
    let server = TestServer::start().await;
    server.admin().post(CONFIG_MAPS, &config_map("kept", "1")).await.expect(201);
    let data = server.data_dir();
    // Those that run at a time do not disturb each other.
    let copies = [0; 4].map(|_| tokio::spawn(output(command("backup", &data, &["-"]))));
    let restored = beside(&server, "restored");
    for (number, copy) in copies.into_iter().enumerate() {
        let copy = copy.await.unwrap();
        assert!(copy.status.success(), "{}", String::from_utf8_lossy(&copy.stderr));
        let target = restored.join(number.to_string());
        let mut restoring = command("restore", &target, &["-"]).env(READS_INPUT, "").spawn().unwrap();
        let mut input = restoring.stdin.take().unwrap();
        input.write_all(&copy.stdout).await.unwrap();
        drop(input);
        let done = restoring.wait_with_output().await.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let (code, manifests) = perform("export", &target, &["-"]).await;
        assert!(code == Some(0) && manifests.contains("\"name\":\"kept\""), "{manifests}");
    }
    assert_eq!(files(&data, "orch.db.copy"), [""; 0], "copies leave nothing");
}

/// Where nothing can be read nothing is done, and the message says what is at fault.
#[tokio::test]
async fn a_copy_that_is_not_there_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let missing = directory.path().join("missing.db");
    let here = directory.path().to_str().unwrap();
    for (file, problem) in [
        (missing.to_str().unwrap(), "missing.db: No such file or directory"),
        (here, &*format!("{here}: is a directory")),
    ] {
        let (code, said) = perform("restore", &data, &[file]).await;
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("FILE: cannot read ") && said.contains(problem), "{said}");
        assert!(!data.exists(), "nothing is made");
    }
    let mut restoring = command("restore", &data, &["-"]);
    restoring.env(READS_INPUT, "").stdin(Stdio::null());
    let done = restoring.spawn().unwrap().wait_with_output().await.unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("FILE: stdin is not a database of this server"), "{said}");
    assert_eq!(files(&data, "orch.db.restored"), [""; 0]);
}

/// The file of flags that the server has is good for its data too.
#[tokio::test]
async fn the_file_of_the_server_says_where_its_data_are() {
    let server = stopped().await;
    let config = beside(&server, "config.yaml");
    let text = format!("data-dir: {}\nsecure-port: 0\nanonymous-auth: false\n", server.data_dir().display());
    fs::write(&config, &text).unwrap();
    let copy = beside(&server, "copy.db");
    let perform = async |arguments: &[&str]| {
        let mut command = TestServer::command();
        command.args(arguments).arg("--config").arg(&config).stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = output(command).await;
        (done.status.code(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
    };
    for arguments in [&["check"][..], &["backup", copy.to_str().unwrap()], &["export", "-"], &["kubeconfig"]]
    {
        let (code, said) = perform(arguments).await;
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
    }
    let elsewhere = format!("--data-dir={}", beside(&server, "elsewhere").display());
    let (code, said) = perform(&["restore", copy.to_str().unwrap(), &elsewhere]).await;
    assert_eq!(code, Some(0), "the command line counts: {said}");
    fs::write(&config, text + "secure-prot: 1\n").unwrap();
    let (code, said) = perform(&["check"]).await;
    assert!(code == Some(2) && said.contains(":4:1: there is no flag \"secure-prot\""), "{said}");
}

/// An administrator may work on the data of a service that has a user of its own: the service can read them
/// afterwards.
#[tokio::test]
async fn what_root_makes_belongs_to_the_owner_of_the_data() {
    const OWNER: u32 = 12_345;
    let server = stopped().await;
    let data = server.data_dir();
    if fs::metadata(&data).unwrap().uid() != 0 {
        return skipped("data of another user", "only root can work on them");
    }
    let copy = beside(&server, "copy.db");
    let file = copy.to_str().unwrap();
    let (code, said) = perform("backup", &data, &[file]).await;
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::metadata(&copy).unwrap().uid(), 0, "a copy elsewhere is root's");
    chown(&data, Some(OWNER), Some(OWNER)).unwrap();
    for name in files(&data, "orch.db") {
        fs::remove_file(data.join(name)).unwrap();
    }
    // What the owner may put there, to get what is root's.
    let secret = beside(&server, "secret");
    fs::write(&secret, "").unwrap();
    fs::hard_link(&secret, data.join("orch.db.hard")).unwrap();
    std::os::unix::fs::symlink(&secret, data.join("orch.db.soft")).unwrap();

    let owned_by = |owner: u32, name: &str| {
        let metadata = fs::metadata(data.join(name)).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (owner, owner), "{name}");
    };
    for (task, arguments) in [("restore", &[file][..]), ("compact", &[]), ("repair", &[])] {
        if task == "repair" {
            let database = data.join("orch.db");
            let mut bytes = fs::read(&database).unwrap();
            let last = bytes.len() - 8192;
            bytes[last..].fill(0xff);
            fs::write(&database, bytes).unwrap();
        }
        let (code, said) = perform(task, &data, arguments).await;
        assert_eq!(code, Some(0), "{task}: {said}");
        assert!(!said.contains("nothing to repair"), "{said}");
        let made = files(&data, "orch.db");
        assert!(made.len() > 3, "{made:?}");
        for name in made.iter().filter(|name| !name.ends_with("hard") && !name.ends_with("soft")) {
            owned_by(OWNER, name);
        }
        owned_by(OWNER, "lock");
        assert_eq!(fs::metadata(&secret).unwrap().uid(), 0, "{task}: nothing else is given away");
    }
}

/// On a terminal a command that takes a while says that it goes on.
#[tokio::test]
async fn an_import_shows_that_it_goes_on() {
    let server = stopped().await;
    let manifests = beside(&server, "objects.json");
    let text = |number| config_map(&format!("m-{number}"), "1").to_string() + "\n";
    fs::write(&manifests, (0..2000).map(text).collect::<String>()).unwrap();
    let line = format!(
        "'{}' import --data-dir='{}' '{}'",
        server_binary().display(),
        server.data_dir().display(),
        manifests.display()
    );
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    terminal.env(READS_INPUT, "").stdin(Stdio::null());
    let Ok(shown) = terminal.output().await else {
        return skipped("what an import shows on a terminal", "there is no program script");
    };
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("2000 objects are created") && shown.contains("importing: "), "{shown}");
}
