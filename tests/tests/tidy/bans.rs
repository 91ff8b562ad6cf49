//! Crates and features that may not be in the build.
//!
//! Crates are looked for in the lock file, which names those of every platform without fetching any. The
//! features that are on, and what the lock file names without need, are looked for in cargo's tree for this
//! platform, which needs nothing beyond what a build has fetched.

use std::collections::BTreeSet;

use crate::{
    arrows::ARROWS,
    source::{cargo, read, root},
};

/// Crates that may not be in the build, on any platform.
const BANNED: &[&str] =
    &["ring", "openssl", "openssl-sys", "native-tls", "serde_yaml", "serde_yml", "yaml-rust", "serde_cbor"];

/// Banned crates that the lock file names although no build has them: which crate names them there, and why.
const ONLY_LOCKED: &[(&str, &str, &str)] = &[(
    "ring",
    "rustls-webpki",
    "optional; cargo locks it because features of other crates mention it, as in `webpki?/ring`",
)];

/// Features that would change what is written, by crate.
const BANNED_FEATURES: &[(&str, &[&str])] = &[("serde_json", &["preserve_order", "arbitrary_precision"])];

/// What a crate is needed for: to be compiled into the product, to build it, or to test it.
const EDGES: &str = "normal,build,dev";

/// A crate in a lock file, with the names of the crates that it may need.
#[derive(Debug, PartialEq)]
struct Locked<'t> {
    name: &'t str,
    dependencies: Vec<&'t str>,
}

/// A crate in a tree of cargo, with the features that are on.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Built<'t> {
    name: &'t str,
    features: Vec<&'t str>,
}

#[test]
fn banned_crates_are_not_in_the_lock_file() {
    let text = read(&root().join("Cargo.lock"));
    let packages = locked(&text);
    for (name, _) in ARROWS {
        assert!(packages.iter().any(|package| package.name == *name), "{name} is not in the lock file");
    }
    assert_eq!(faults_of_lock(&packages, ONLY_LOCKED), [""; 0]);
}

#[test]
fn banned_crates_and_features_are_not_in_the_build() {
    let text = cargo(&["tree", "--workspace", "--edges", EDGES, "--prefix", "none", "--format", "{p}\t{f}"]);
    let packages = built(&text);
    for (name, _) in ARROWS {
        assert!(packages.iter().any(|package| package.name == *name), "{name} is not in the tree:\n{text}");
    }
    assert_eq!(faults_of_build(&packages), [""; 0]);
}

/// The crates of a lock file.
fn locked(text: &str) -> Vec<Locked<'_>> {
    let packages = text.split("[[package]]\n").skip(1).map(|block| {
        let name = block.lines().find_map(|line| line.strip_prefix("name = ")).expect("a package has a name");
        let list = block.split_once("dependencies = [").and_then(|(_, rest)| rest.split_once(']'));
        // `"name"`, or `"name version"` where there are several versions.
        let entries = list.map_or("", |(list, _)| list).split('"').skip(1).step_by(2);
        let dependencies = entries.filter_map(|entry| entry.split(' ').next()).collect();
        Locked { name: name.trim_matches('"'), dependencies }
    });
    packages.collect()
}

/// The crates of `cargo tree --prefix none --format "{p}<tab>{f}"`.
fn built(text: &str) -> BTreeSet<Built<'_>> {
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines
        .map(|(package, features)| Built {
            name: package.split(' ').next().unwrap_or_default(),
            // `(*)` stands behind a crate that was printed before.
            features: features.trim_end_matches(" (*)").split(',').filter(|name| !name.is_empty()).collect(),
        })
        .collect()
}

fn faults_of_lock(packages: &[Locked<'_>], only_locked: &[(&str, &str, &str)]) -> Vec<String> {
    let mut faults = Vec::new();
    for package in packages.iter().filter(|package| BANNED.contains(&package.name)) {
        let users = packages.iter().filter(|user| user.dependencies.contains(&package.name));
        let users: BTreeSet<&str> = users.map(|user| user.name).collect();
        let excepted: BTreeSet<&str> =
            only_locked.iter().filter(|(name, ..)| *name == package.name).map(|(_, user, _)| *user).collect();
        if users != excepted {
            faults.push(format!("{} is in the lock file, named by {users:?}", package.name));
        }
    }
    for (name, user, _) in only_locked {
        if !packages.iter().any(|package| package.name == *name) {
            faults.push(format!("{name}, named by {user}, is excepted and not in the lock file"));
        }
    }
    faults
}

fn faults_of_build(packages: &BTreeSet<Built<'_>>) -> Vec<String> {
    let crates = packages.iter().filter(|package| BANNED.contains(&package.name));
    let mut faults: Vec<String> = crates.map(|package| format!("{} is in the build", package.name)).collect();
    for (name, banned) in BANNED_FEATURES {
        let mut found = packages.iter().filter(|package| package.name == *name).peekable();
        if found.peek().is_none() {
            faults.push(format!("{name} is not in the build: its features cannot be judged"));
        }
        let features = found.flat_map(|package| &package.features).filter(|feature| banned.contains(feature));
        faults.extend(features.map(|feature| format!("{name} has the feature {feature}")));
    }
    faults
}

/// A lock file in which `user` needs the crate called `name`.
fn lock_with(name: &str, user: &str) -> String {
    format!(
        "version = 4\n\n[[package]]\nname = \"{user}\"\nversion = \"1.0.0\"\ndependencies = [\n \"other 0.9.0\",\n \
         \"{name}\",\n]\n\n[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n"
    )
}

#[test]
fn lock_files_are_read() {
    let text = lock_with("ring", "user");
    let user = Locked { name: "user", dependencies: vec!["other", "ring"] };
    assert_eq!(locked(&text), [user, Locked { name: "ring", dependencies: Vec::new() }]);
}

#[test]
fn every_banned_crate_in_a_lock_file_is_a_fault() {
    for name in BANNED {
        let text = lock_with(name, "user");
        let expected = format!(r#"{name} is in the lock file, named by {{"user"}}"#);
        assert_eq!(faults_of_lock(&locked(&text), &[]), [expected]);
    }
    assert_eq!(faults_of_lock(&locked(&lock_with("harmless", "user")), &[]), [""; 0]);
}

#[test]
fn an_exception_is_for_one_user_and_is_needed() {
    let excepted = [("ring", "rustls-webpki", "optional")];
    let faults = |name: &str, user: &str| faults_of_lock(&locked(&lock_with(name, user)), &excepted);
    assert_eq!(faults("ring", "rustls-webpki"), [""; 0]);
    assert_eq!(faults("ring", "user"), [r#"ring is in the lock file, named by {"user"}"#]);
    let idle = ["ring, named by rustls-webpki, is excepted and not in the lock file"];
    assert_eq!(faults("harmless", "user"), idle);
}

#[test]
fn every_banned_crate_or_feature_in_a_tree_is_a_fault() {
    let json = "serde_json v1.0.0\tdefault,std\nserde_json v1.0.0\tdefault,std (*)\n";
    assert_eq!(faults_of_build(&built(json)), [""; 0]);
    for name in BANNED {
        let text = format!("{json}{name} v1.0.0 (proc-macro)\t\n");
        assert_eq!(faults_of_build(&built(&text)), [format!("{name} is in the build")]);
    }
    for (name, features) in BANNED_FEATURES {
        for feature in *features {
            let text = format!("{json}{name} v2.0.0\tdefault,{feature} (*)\n");
            assert_eq!(faults_of_build(&built(&text)), [format!("{name} has the feature {feature}")]);
        }
    }
    let lost = ["serde_json is not in the build: its features cannot be judged"];
    assert_eq!(faults_of_build(&built("tokio v1.0.0\tfs\n")), lost);
}
