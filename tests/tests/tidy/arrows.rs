//! Which crate may use which, and that a manifest asks for what is used and for nothing else.

use std::collections::BTreeSet;

use crate::{
    rust_text::{Token, TokenKind, tokens},
    source::{Dependency, Package, SOURCES, files, none, packages, read, root, shown},
};

/// Which crates of the workspace a crate depends on. The build-time generator is marked with `!`, what only
/// tests use with `?`.
pub const ARROWS: &[(&str, &[&str])] = &[
    ("orch-runtime", &[]),
    // Quantities, durations and patterns mean the same in expressions as in objects.
    ("orch-expression", &["orch-runtime"]),
    // The generator checks formats and defaults with the rules that the generated code will call.
    ("orch-codegen", &["orch-expression", "orch-runtime", "?orch-proof"]),
    // What the generated tests of conversions do.
    ("orch-proof", &["orch-runtime"]),
    // It holds compiled rules against interpreted ones.
    ("orch-agreement", &["orch-runtime", "!orch-codegen", "?orch-codegen", "?orch-expression"]),
    // What every API speaks of; a change of a kind does not reach it.
    ("orch-meta", &["orch-runtime", "!orch-codegen"]),
    // The words of each vocabulary, and how times are written.
    ("orch-client", &["orch-meta", "orch-runtime"]),
    // The client only with the feature of that name.
    (
        "orch-api",
        &["orch-client", "orch-meta", "orch-runtime", "!orch-codegen", "?orch-machinery", "?orch-proof"],
    ),
    ("orch-machinery", &["orch-runtime"]),
    ("orch-storage", &[]),
    ("orch-storage-etcd", &["orch-settings", "orch-storage"]),
    ("orch-storage-sqlite", &["orch-storage"]),
    ("orch-auth", &["orch-expression", "orch-outbound", "orch-runtime", "orch-settings"]),
    ("orch-encryption", &["orch-runtime", "orch-settings", "orch-storage", "?orch-meta"]),
    ("orch-flow", &[]),
    // Of auth it takes what a user is.
    ("orch-audit", &["orch-auth", "orch-outbound", "orch-runtime", "orch-settings", "?orch-meta"]),
    ("orch-listener", &[]),
    // A call carries the trace of the request that it is made for.
    ("orch-outbound", &["orch-settings", "orch-trace"]),
    ("orch-settings", &[]),
    ("orch-trace", &[]),
    (
        "orch-registry",
        // Of auth it takes what a user and a decision are.
        &["orch-auth", "orch-machinery", "orch-meta", "orch-runtime", "orch-storage", "?orch-api"],
    ),
    (
        "orch-kinds",
        &[
            "orch-api",
            "orch-auth",
            "orch-flow",
            "orch-machinery",
            "orch-meta",
            "orch-registry",
            "orch-runtime",
            "orch-storage",
        ],
    ),
    (
        "orch-controllers",
        &[
            "orch-api",
            "orch-auth",
            "orch-kinds",
            "orch-machinery",
            "orch-meta",
            "orch-registry",
            "orch-runtime",
            "orch-storage",
        ],
    ),
    // What the parts are configured with; of the store, the product words of a database that is there.
    (
        "orch-config",
        &[
            "orch-audit",
            "orch-auth",
            "orch-listener",
            "orch-registry",
            "orch-runtime",
            "orch-settings",
            "orch-storage-sqlite",
            "?orch-test-catalog",
        ],
    ),
    // No kind: a change of a schema does not build it again.
    (
        "orch-http",
        &[
            "orch-audit",
            "orch-auth",
            "orch-config",
            "orch-encryption",
            "orch-flow",
            "orch-listener",
            "orch-machinery",
            "orch-meta",
            "orch-outbound",
            "orch-registry",
            "orch-runtime",
            "orch-settings",
            "orch-storage",
            "orch-trace",
            "?orch-test-catalog",
        ],
    ),
    ("orch-test-catalog", &["orch-api", "orch-registry", "orch-runtime"]),
    (
        "orch-apiserver",
        &[
            "orch-api",
            "orch-audit",
            "orch-auth",
            "orch-config",
            "orch-controllers",
            "orch-encryption",
            "orch-http",
            "orch-kinds",
            "orch-listener",
            "orch-machinery",
            "orch-meta",
            "orch-outbound",
            "orch-registry",
            "orch-runtime",
            "orch-settings",
            "orch-storage",
            "orch-storage-etcd",
            "orch-storage-sqlite",
            "?orch-test-catalog",
        ],
    ),
    (
        "orch-tests",
        &[
            "orch-api",
            "orch-apiserver",
            "?orch-auth",
            "?orch-client",
            "?orch-codegen",
            "?orch-expression",
            "?orch-kinds",
            "?orch-machinery",
            "?orch-outbound",
            "?orch-registry",
            "?orch-runtime",
            "?orch-storage",
        ],
    ),
    (
        "bakery",
        &[
            "orch-api",
            "orch-apiserver",
            "orch-runtime",
            "!orch-codegen",
            "?orch-codegen",
            "?orch-proof",
            "?orch-tests",
        ],
    ),
    ("controller", &["orch-api", "orch-client", "orch-runtime", "!orch-codegen", "?orch-apiserver"]),
    (
        "history",
        &["orch-api", "orch-apiserver", "orch-runtime", "!orch-codegen", "?orch-proof", "?orch-tests"],
    ),
    (
        "widgets",
        &["orch-api", "orch-apiserver", "orch-controllers", "orch-registry", "orch-runtime", "!orch-codegen"],
    ),
    // The same with one more file.
    (
        "gadgets",
        &[
            "orch-api",
            "orch-apiserver",
            "orch-controllers",
            "orch-registry",
            "orch-runtime",
            "!orch-codegen",
            "?orch-tests",
        ],
    ),
];

/// Crates from outside that a crate of the workspace may not use, and why.
const STRANGERS: &[(&str, &[&str], &str)] = &[
    ("orch-runtime", &["tokio", "hyper", "axum", "sqlx"], "generated code is written against it: no IO"),
    ("orch-expression", &["tokio", "hyper", "axum", "sqlx"], "a language: no IO"),
    ("orch-machinery", &["tokio", "hyper", "axum", "sqlx"], "pure algorithms: no IO"),
    (
        "orch-storage",
        &["hyper", "axum", "http", "serde", "serde_json", "sqlx"],
        "knows no HTTP, no kinds and no database",
    ),
    (
        "orch-storage-etcd",
        &["axum", "serde", "serde_json", "sqlx"],
        "speaks HTTP to etcd only, and knows no kinds",
    ),
    ("orch-storage-sqlite", &["hyper", "axum", "http", "serde", "serde_json"], "knows no HTTP and no kinds"),
    (
        "orch-encryption",
        &["tokio", "hyper", "axum", "sqlx"],
        "knows keys and values, not where these are kept",
    ),
    ("orch-auth", &["hyper", "axum", "sqlx"], "knows no HTTP"),
    ("orch-flow", &["tokio", "hyper", "axum", "http", "sqlx"], "it is told the time, and waits for nothing"),
    ("orch-audit", &["hyper", "axum", "http", "sqlx"], "knows no HTTP"),
    ("orch-listener", &["axum", "serde", "serde_json", "sqlx"], "knows connections, not what requests mean"),
    ("orch-trace", &["hyper", "axum", "http", "serde_json", "sqlx"], "knows spans, not who they are for"),
    ("orch-outbound", &["axum", "serde_json", "sqlx"], "knows connections, not what is said over them"),
    ("orch-registry", &["hyper", "axum", "http", "sqlx"], "knows no HTTP and no database"),
    ("orch-kinds", &["hyper", "axum", "http", "sqlx"], "knows no HTTP and no database"),
    ("orch-controllers", &["hyper", "axum", "http", "sqlx", "prometheus"], "knows no HTTP and no database"),
    ("orch-config", &["hyper", "axum", "sqlx"], "reads flags; others act on them"),
    ("orch-http", &["sqlx"], "the database belongs to the store"),
    ("orch-apiserver", &["sqlx"], "the database belongs to the store"),
];

/// Dependencies that no file names, and what needs them.
const NAMED_IN_NO_FILE: &[(&str, &str, &str)] = &[
    ("orch-agreement", "orch-runtime", "what the generator writes"),
    ("orch-agreement", "serde", "what the generator writes"),
    ("orch-meta", "serde", "what the generator writes"),
    ("orch-api", "orch-client", "what the generator writes with the feature client"),
    ("bakery", "orch-proof", "what the generator writes"),
    ("bakery", "orch-runtime", "what the generator writes"),
    ("bakery", "serde", "what the generator writes"),
    ("controller", "orch-runtime", "what the generator writes"),
    ("controller", "serde", "what the generator writes"),
    ("history", "orch-proof", "what the generator writes"),
    ("history", "serde", "what the generator writes"),
    ("widgets", "serde", "what the generator writes"),
    ("gadgets", "axum", "the example, which it compiles by its path"),
    ("gadgets", "orch-api", "the example, which it compiles by its path"),
    ("gadgets", "orch-apiserver", "the example, which it compiles by its path"),
    ("gadgets", "orch-controllers", "the example, which it compiles by its path"),
    ("gadgets", "orch-registry", "the example, which it compiles by its path"),
    ("gadgets", "orch-runtime", "the example, which it compiles by its path"),
    ("gadgets", "serde", "what the generator writes"),
    ("gadgets", "serde_json", "the example, which it compiles by its path"),
    ("orch-tests", "orch-expression", "the fuzz targets, which a test includes by their path"),
    ("orch-tests", "orch-outbound", "the fuzz targets, which a test includes by their path"),
];

/// Crates that code calls by another name than that of the crate.
const LIBRARIES: &[(&str, &str)] = &[("rustls-webpki", "webpki")];

#[test]
fn crates_depend_on_each_other_in_one_direction() {
    let packages = packages();
    let mut problems = faults(&packages, ARROWS);
    for package in &packages {
        for to in package.dependencies.iter().filter(|to| to.kind == "normal") {
            let of_package = STRANGERS.iter().filter(|(of, ..)| *of == package.name);
            let banned = of_package.filter(|(_, strangers, _)| strangers.contains(&to.name.as_str()));
            problems.extend(
                banned.map(|(.., why)| format!("{} may not depend on {}: {why}", package.name, to.name)),
            );
        }
    }
    none(&problems);
}

#[test]
fn every_dependency_is_used() {
    let packages = packages();
    let mut problems = Vec::new();
    let mut excepted: BTreeSet<(&str, &str)> =
        NAMED_IN_NO_FILE.iter().map(|(of, to, _)| (*of, *to)).collect();
    for package in &packages {
        let named = |kind: &str| {
            let files = SOURCES.iter().filter(|source| is_code_for(&package.folder, kind, &source.name));
            files.flat_map(|source| crates_named(&tokens(&source.text))).collect::<BTreeSet<&str>>()
        };
        let named = ["normal", "dev", "build"].map(|kind| (kind, named(kind)));
        for Dependency { name, kind, called } in &package.dependencies {
            let library =
                LIBRARIES.iter().find(|(of, _)| of == name).map_or(called.as_str(), |(_, name)| name);
            let is_named = named.iter().any(|(of, names)| of == kind && names.contains(library));
            let is_excepted = excepted.remove(&(package.name.as_str(), name.as_str()));
            if is_named == is_excepted {
                let what = if is_named { "is excepted and used" } else { "is in the manifest and not used" };
                problems.push(format!("{}: {name} ({kind}) {what}", package.name));
            }
        }
    }
    problems
        .extend(excepted.iter().map(|(of, to)| format!("{of}: {to} is excepted and not in the manifest")));
    none(&problems);
}

#[test]
fn every_shared_version_is_used() {
    let packages = packages();
    let is_used =
        |name: &str| packages.iter().flat_map(|package| &package.dependencies).any(|to| to.name == name);
    let manifest = read(&root().join("Cargo.toml"));
    let shared = shared_versions(&manifest);
    assert!(shared.len() > packages.len(), "the shared versions are not found");
    let unused = shared.into_iter().filter(|name| !is_used(name));
    none(&unused.map(|name| format!("Cargo.toml: no crate depends on {name}")).collect::<Vec<_>>());
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for file in files("Cargo.toml") {
        let text = read(&file);
        let inherits = text.contains("[lints]\nworkspace = true") || text.contains("[workspace.lints");
        assert!(inherits, "{} has lints of its own", shown(&file));
    }
}

/// What differs between manifests and a table of arrows.
fn faults(packages: &[Package], arrows: &[(&str, &[&str])]) -> Vec<String> {
    let is_ours = |name: &str| packages.iter().any(|package| package.name == name);
    let mut declared = BTreeSet::new();
    for package in packages {
        for to in package.dependencies.iter().filter(|to| is_ours(&to.name)) {
            let mark = match to.kind.as_str() {
                "build" => "!",
                "dev" => "?",
                _ => "",
            };
            declared.insert((package.name.as_str(), format!("{mark}{}", to.name)));
        }
    }
    let allowed: BTreeSet<(&str, String)> =
        arrows.iter().flat_map(|(of, to)| to.iter().map(|to| (*of, (*to).to_owned()))).collect();
    let undeclared = declared.difference(&allowed).map(|(of, to)| format!("{of} may not depend on {to}"));
    let unused =
        allowed.difference(&declared).map(|(of, to)| format!("{of} may depend on {to}, and does not"));
    let lost = packages.iter().filter(|package| arrows.iter().all(|(of, _)| *of != package.name));
    let lost = lost.map(|package| format!("{} is missing from the table of arrows", package.name));
    let gone = arrows.iter().filter(|(of, _)| !is_ours(of)).map(|(of, _)| format!("{of} is no crate"));
    undeclared.chain(unused).chain(lost).chain(gone).collect()
}

/// The crates whose versions the workspace's manifest sets.
fn shared_versions(manifest: &str) -> Vec<&str> {
    let table = manifest.split_once("[workspace.dependencies]\n").map_or("", |(_, rest)| rest);
    let lines = table.lines().take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| Some(line.split_once(" = ")?.0)).filter(|name| !name.starts_with('#')).collect()
}

/// Whether a file of a package is compiled with its dependencies of a kind, and not with those of another
/// kind too.
fn is_code_for(folder: &str, kind: &str, file: &str) -> bool {
    let Some(file) = file.strip_prefix(folder).and_then(|file| file.strip_prefix('/')) else { return false };
    match kind {
        "normal" => file.starts_with("src/"),
        "build" => file == "build.rs",
        // Tests inside of `src` may be all that needs it.
        _ => file != "build.rs",
    }
}

/// The names that stand where the name of a crate can: before `::`, and behind `use` or `extern crate`.
fn crates_named<'t>(tokens: &[Token<'t>]) -> BTreeSet<&'t str> {
    let tokens: Vec<&Token<'t>> = tokens.iter().filter(|token| token.kind != TokenKind::Comment).collect();
    let sign = |at: Option<usize>, sign: &str| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| token.is_sign(sign))
    };
    let names = tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Name);
    let crates = names.filter(|(at, _)| {
        let begins_path = sign(Some(at + 1), ":") && sign(Some(at + 2), ":");
        let inside_path = sign(at.checked_sub(1), ":") && sign(at.checked_sub(2), ":");
        let before = at.checked_sub(1).map(|before| tokens[before]);
        let is_used = before.is_some_and(|before| before.is_name("use") || before.is_name("crate"));
        (begins_path && !inside_path) || is_used
    });
    crates.map(|(_, token)| token.text).collect()
}

#[test]
fn arrows_that_are_unused_undeclared_or_unknown_are_faults() {
    let dependency = |name: &str, kind: &str| Dependency {
        name: name.to_owned(),
        kind: kind.to_owned(),
        called: name.to_owned(),
    };
    let package = |name: &str, dependencies: Vec<Dependency>| Package {
        name: name.to_owned(),
        folder: name.to_owned(),
        dependencies,
    };
    let packages = [
        package(
            "top",
            vec![dependency("base", "normal"), dependency("maker", "build"), dependency("serde", "dev")],
        ),
        package("base", vec![]),
        package("maker", vec![dependency("base", "dev")]),
    ];
    let right: &[(&str, &[&str])] = &[("top", &["base", "!maker"]), ("base", &[]), ("maker", &["?base"])];
    assert_eq!(faults(&packages, right), [""; 0]);
    let wrong: &[(&str, &[&str])] = &[("top", &["base", "maker"]), ("base", &["top"]), ("gone", &[])];
    assert_eq!(
        faults(&packages, wrong),
        [
            "maker may not depend on ?base",
            "top may not depend on !maker",
            "base may depend on top, and does not",
            "top may depend on maker, and does not",
            "maker is missing from the table of arrows",
            "gone is no crate",
        ]
    );
}

#[test]
fn shared_versions_are_read() {
    let manifest = "[workspace]\nmembers = []\n[workspace.dependencies]\na = \"1\"\n# b = 2\n\nc-d = { path = \"c\" }\n[other]\ne = 1\n";
    assert_eq!(shared_versions(manifest), ["a", "c-d"]);
}

#[test]
fn crates_are_named_at_the_beginning_of_paths() {
    let text = "use one::{a, b}; // not::this\nfn f() { two::g(crate::three::h()); let four = \"five::x\"; }\n\
                use six; extern crate seven; #[eight::test] fn t() {} self::nine::x();";
    let named = crates_named(&tokens(text));
    assert_eq!(Vec::from_iter(named), ["crate", "eight", "one", "self", "seven", "six", "two"]);
}
