//! Subcommands, and what is made of them.

use orch_runtime::vocabulary::Vocabulary;

use crate::{
    config::{
        DataDir, ExportFlags, FileFlags, Invocation, MoveFlags, MovePlace, RepairFlags, Task, command, parse,
    },
    start_error::StartError,
    test_catalog::{KUBERNETES, ORCH},
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
