//! Subcommands, and what is made of them.

use orch_runtime::vocabulary::Vocabulary;
use orch_test_catalog::{KUBERNETES, ORCH};

use crate::{
    DataDir, ExportFlags, FileFlags, Invocation, MoveFlags, MovePlace, RepairFlags, Task, command, parse,
    start_error::StartError,
};

static VOCABULARIES: [&Vocabulary; 2] = [&ORCH, &KUBERNETES];

fn read(arguments: &[&str]) -> Result<Invocation, StartError> {
    parse(["orch-apiserver"].iter().chain(arguments), &VOCABULARIES)
}

fn shown(arguments: &[&str]) -> String {
    match read(arguments) {
        Ok(Invocation::Show(text)) => text,
        other => panic!("{arguments:?}: {other:?}"),
    }
}

#[test]
fn subcommands_are_read_and_explained() {
    let task = |arguments: &[&str]| match read(arguments) {
        Ok(Invocation::Perform(task)) => task,
        other => panic!("{arguments:?}: {other:?}"),
    };
    let at = |directory: &str| DataDir { data_dir: directory.into() };
    assert_eq!(task(&["check"]), Task::Check(at("orch-data")));
    assert_eq!(
        task(&["repair", "--data-dir=d", "--vocabulary=v"]),
        Task::Repair(RepairFlags { at: at("d"), vocabulary: Some("v".to_owned()) })
    );
    assert_eq!(
        task(&["backup", "--data-dir", "d", "-"]),
        Task::Backup(FileFlags { at: at("d"), file: "-".into() })
    );
    assert_eq!(task(&["restore", "f"]), Task::Restore(FileFlags { at: at("orch-data"), file: "f".into() }));
    assert_eq!(task(&["compact"]), Task::Compact(at("orch-data")));
    assert_eq!(
        task(&["export", "f", "--data-dir=d", "--encryption-provider-config=k"]),
        Task::Export(ExportFlags {
            to: FileFlags { at: at("d"), file: "f".into() },
            encryption_provider_config: Some("k".into()),
        })
    );
    match task(&["migrate-storage", "--from=sqlite:d", "--to=etcd:http://a:1,http://b:1", "--etcd-prefix=/p"])
    {
        Task::Move(MoveFlags { from, to, access, .. }) => {
            assert_eq!(from, MovePlace::Sqlite(at("d")));
            assert_eq!(to, MovePlace::Etcd(vec!["http://a:1".to_owned(), "http://b:1".to_owned()]));
            assert_eq!(access.etcd_prefix, "/p");
        }
        other => panic!("{other:?}"),
    }
    for (from, to) in [("d", "etcd:a"), ("sqlite:", "etcd:a"), ("sqlite:d", "etcd:"), ("other:d", "etcd:a")] {
        let refused = read(&["migrate-storage", "--from", from, "--to", to]).expect_err("must be refused");
        assert!(refused.to_string().contains("must be sqlite:DIR or etcd:URL,URL"), "{refused}");
    }
    assert_eq!(task(&["kubeconfig", "--data-dir=d"]), Task::Kubeconfig(at("d")));
    for subcommand in command(&VOCABULARIES).get_subcommands() {
        let about = subcommand.get_about().expect("it says what it does").to_string();
        let help = shown(&[subcommand.get_name(), "--help"]);
        assert!(help.starts_with(&about) && shown(&["--help"]).contains(&about), "{help}");
    }
}

#[test]
fn tasks_take_what_concerns_them_of_the_file_of_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("config.yaml");
    let config = format!("--config={}", file.display());
    let task = |arguments: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().copied().chain([&*config]).collect();
        read(&arguments).map_err(|error| error.to_string())
    };
    let text = "data-dir: d\nencryption-provider-config: k\nvocabulary: kubernetes\netcd-prefix: /p\n\
                secure-port: 1\nanonymous-auth: false\nauthorization-mode: [Node, RBAC]\n";
    std::fs::write(&file, text).unwrap();
    let at = |directory: &str| DataDir { data_dir: directory.into() };
    let to = |directory: &str| FileFlags { at: at(directory), file: "f".into() };
    for (arguments, expected) in [
        (&["check"][..], Task::Check(at("d"))),
        (&["repair"], Task::Repair(RepairFlags { at: at("d"), vocabulary: Some("kubernetes".to_owned()) })),
        (&["backup", "f"], Task::Backup(to("d"))),
        (&["restore", "f", "--data-dir=other"], Task::Restore(to("other"))),
        (&["compact"], Task::Compact(at("d"))),
        (
            &["export", "f"],
            Task::Export(ExportFlags { to: to("d"), encryption_provider_config: Some("k".into()) }),
        ),
        (&["kubeconfig"], Task::Kubeconfig(at("d"))),
    ] {
        match task(arguments) {
            Ok(Invocation::Perform(task)) => assert_eq!(task, expected),
            other => panic!("{arguments:?}: {other:?}"),
        }
    }
    match task(&["migrate-storage", "--from=sqlite:d", "--to=etcd:http://a:1"]) {
        Ok(Invocation::Perform(Task::Move(flags))) => {
            assert_eq!(flags.encryption_provider_config, Some("k".into()));
            assert_eq!(flags.access.etcd_prefix, "/p");
        }
        other => panic!("{other:?}"),
    }
    for (text, problem) in [
        ("secure-prot: 1\n", ":1:1: there is no flag \"secure-prot\" (did you mean secure-port?)"),
        ("data-dir: d\nsecure-port: x\n", ":2:14: invalid value 'x' for '--secure-port"),
    ] {
        std::fs::write(&file, text).unwrap();
        let said = task(&["check"]).unwrap_err();
        assert!(said.contains(problem), "{said}");
    }
}
