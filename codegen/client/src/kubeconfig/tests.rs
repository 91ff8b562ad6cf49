//! Merging and choosing.

use std::path::PathBuf;

use super::{Choice, choose, read};
use crate::error::Error;

const SECRET: &str = "hunter2";

/// Files with these texts, in a directory that goes away with the first value.
fn files(texts: &[&str]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let directory = tempfile::tempdir().unwrap();
    let paths = texts.iter().enumerate().map(|(index, text)| {
        let path = directory.path().join(index.to_string());
        std::fs::write(&path, text).unwrap();
        path
    });
    let paths = paths.collect();
    (directory, paths)
}

fn contexts(names: &[(&str, &str, &str)]) -> String {
    let lines: Vec<String> = names
        .iter()
        .map(|(name, cluster, user)| {
            format!("- {{name: {name}, context: {{cluster: {cluster}, user: {user}}}}}\n")
        })
        .collect();
    format!("contexts:\n{}", lines.concat())
}

#[test]
fn the_first_file_that_says_something_counts() {
    let first = format!(
        "current-context: ''\nclusters:\n- {{name: c, cluster: {{server: 'https://one'}}}}\n{}",
        contexts(&[]).replace('\n', " []\n")
    );
    let second = format!(
        "current-context: b\nclusters:\n- {{name: c, cluster: {{server: 'https://two', tls-server-name: x}}}}\n\
         - {{name: d, cluster: {{server: 'https://three'}}}}\nusers:\n- {{name: u, user: {{token: t}}}}\n{}",
        contexts(&[("a", "c", "u"), ("b", "d", "u")])
    );
    let third = format!("current-context: a\n{}", contexts(&[("b", "c", "u")]));
    let (directory, mut paths) = files(&[&first, &second, &third]);
    paths.insert(1, directory.path().join("missing"));
    let server = |choice: &Choice| {
        let merged = read(&paths, false).unwrap().unwrap();
        choose(merged, choice).map(|(_, cluster)| (cluster.server.unwrap(), cluster.tls_server_name))
    };
    let choice = |context: &str| Choice { context: Some(context.to_owned()), ..Choice::default() };
    // The second file is the first with a current context, and the first with the context `b`; all of a
    // cluster is from one file.
    assert_eq!(server(&Choice::default()).unwrap(), ("https://three".to_owned(), None));
    assert_eq!(server(&choice("a")).unwrap(), ("https://one".to_owned(), None));
    let other = Choice { cluster: Some("d".to_owned()), ..choice("a") };
    assert_eq!(server(&other).unwrap().0, "https://three");
    for (choice, expected) in [
        (choice("z"), "there is no context \"z\""),
        (Choice { cluster: Some("z".to_owned()), ..choice("a") }, "there is no cluster \"z\""),
        (Choice { user: Some("z".to_owned()), ..choice("a") }, "there is no user \"z\""),
    ] {
        let error = server(&choice).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = read(&paths, true).unwrap_err();
    assert!(matches!(&error, Error::Read { path, .. } if path.ends_with("missing")), "{error}");
}

#[test]
fn nothing_is_there_where_no_file_is() {
    let (directory, _) = files(&[]);
    assert!(read(&[directory.path().join("a"), directory.path().join("b")], false).unwrap().is_none());
}

#[test]
fn files_and_commands_are_found_from_the_file_that_names_them() {
    let text = "users:\n- name: u\n  user: {tokenFile: t, client-certificate: c/d, client-key: /k, \
                exec: {command: ./p}}\n- {name: v, user: {exec: {command: p}}}\n";
    let (directory, paths) = files(&[text]);
    let users = read(&paths, true).unwrap().unwrap().auth_infos;
    let [u, v] = [0, 1].map(|at: usize| users[at].auth_info.clone().unwrap());
    let here = |name: &str| Some(directory.path().join(name).to_str().unwrap().to_owned());
    assert_eq!((u.token_file, u.client_certificate), (here("t"), here("c/d")));
    assert_eq!((u.client_key.as_deref(), u.exec.unwrap().command), (Some("/k"), here("./p")));
    assert_eq!(v.exec.unwrap().command.as_deref(), Some("p"));
}

#[test]
fn wrong_files_are_named_and_not_repeated() {
    for (text, expected) in [
        (format!("users:\n- name: a\n  user: {{token: [{SECRET}]}}\n"), "in line 3, column "),
        (format!("users:\n- name: a\n  user: {{token: {SECRET}"), "in line "),
        ("clusters: 5\n".to_owned(), "in line 1, column "),
        (
            "users:\n- name: a\n  user: {exec: {interactiveMode: Sometimes}}\n".to_owned(),
            "in line 3, column ",
        ),
        ("users: [{name: a}, {name: a}]\n".to_owned(), "where the name \"a\" stands a second time"),
    ] {
        let (_directory, paths) = files(&[&text]);
        let error = read(&paths, true).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(paths[0].to_str().unwrap()), "{error}");
        assert!(!error.contains(SECRET), "{error}");
    }
}

#[test]
fn a_context_is_needed() {
    let (_directory, paths) = files(&["contexts: []\n"]);
    let error = choose(read(&paths, true).unwrap().unwrap(), &Choice::default()).unwrap_err().to_string();
    assert!(error.ends_with("no context is chosen, and none is current"), "{error}");
}
