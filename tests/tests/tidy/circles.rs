//! No circle of imports: of the modules below one module, none needs another that needs it back, however long
//! the way.
//!
//! `foo.rs` and the folder `foo` are one module. A child may use its parent's items, and a parent its
//! children's; what counts is siblings, with all that is below each of them, in every module of every crate.
//! A name that a module hands on counts as taken from where it is made.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    imports::{Module, Taken, module_of, names, taken},
    rust_text::{Token, product_tokens},
    source::{SOURCES, none},
};

/// How many names are shown of what one module takes from another.
const SHOWN_NAMES: usize = 4;

/// What one module takes from another: places and names.
type Uses = Vec<String>;

/// Below one module: which child takes what from which.
type Siblings = BTreeMap<(String, String), Uses>;

#[test]
fn modules_do_not_import_each_other_in_circles() {
    let mut crates: BTreeMap<&str, BTreeMap<Module, Vec<Token<'_>>>> = BTreeMap::new();
    let folders: BTreeSet<&str> = SOURCES.iter().filter_map(|source| folder_of_root(&source.name)).collect();
    for source in SOURCES.iter().filter(|source| !source.is_unit_test) {
        let Some((folder, module)) = place(&source.name, &folders) else { continue };
        let tokens = crates.entry(folder).or_default().entry(module).or_default();
        tokens.extend(product_tokens(&source.text));
    }
    assert!(
        crates.contains_key("server/apiserver/src") && crates.contains_key("tests/tests/api"),
        "{folders:?}"
    );
    let problems = crates.iter().flat_map(|(folder, files)| {
        circles(files).into_iter().map(move |circle| format!("{folder}: {circle}"))
    });
    none(&problems.collect::<Vec<_>>());
}

/// The folder of a crate whose root is this file.
fn folder_of_root(name: &str) -> Option<&str> {
    name.strip_suffix("/lib.rs").or_else(|| name.strip_suffix("/main.rs"))
}

/// The crate that a file belongs to, by its folder, and the module that it is.
fn place<'n>(name: &'n str, folders: &BTreeSet<&str>) -> Option<(&'n str, Module)> {
    let ends = name.match_indices('/').map(|(at, _)| at);
    let folder = ends.map(|at| &name[..at]).rfind(|folder| folders.contains(folder))?;
    let rest = name[folder.len() + 1..].strip_suffix(".rs")?;
    let module = if matches!(rest, "lib" | "main") {
        Vec::new()
    } else {
        rest.split('/').map(str::to_owned).collect()
    };
    Some((folder, module))
}

/// The circles of a crate, each told with what is taken.
fn circles(files: &BTreeMap<Module, Vec<Token<'_>>>) -> Vec<String> {
    let modules: BTreeSet<Module> = files.keys().cloned().collect();
    let taken: Vec<Taken> =
        files.iter().flat_map(|(module, tokens)| taken(module, tokens, &modules)).collect();
    let names = names(&taken);
    let mut levels: BTreeMap<Module, Siblings> = BTreeMap::new();
    for taken in &taken {
        let from = module_of(&taken.path, &modules, &names);
        let shared = taken.by.iter().zip(&from).take_while(|(by, from)| by == from).count();
        if let (Some(by), Some(of)) = (taken.by.get(shared), from.get(shared)) {
            let siblings = levels.entry(from[..shared].to_vec()).or_default();
            let name = taken.path.last().map_or("", String::as_str);
            let use_ = format!("{name} ({}:{})", taken.by.join("/"), taken.line);
            siblings.entry((by.clone(), of.clone())).or_default().push(use_);
        }
    }
    levels.iter().flat_map(|(parent, siblings)| circles_of(parent, siblings)).collect()
}

/// The circles of one module's children: each group of children that reach each other, and what they take
/// inside of it.
fn circles_of(parent: &Module, siblings: &Siblings) -> Vec<String> {
    let children: BTreeSet<&String> = siblings.keys().flat_map(|(by, of)| [by, of]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        children.iter().map(|child| (*child, reachable(child, siblings))).collect();
    let mut told: BTreeSet<&String> = BTreeSet::new();
    let mut circles = Vec::new();
    for child in &children {
        let group: BTreeSet<&String> =
            reached[child].iter().filter(|other| reached[**other].contains(child)).copied().collect();
        if !group.contains(child) || told.contains(child) {
            continue;
        }
        told.extend(&group);
        let mut uses: Vec<(&(String, String), &Uses)> =
            siblings.iter().filter(|((by, of), _)| group.contains(by) && group.contains(of)).collect();
        // What is easiest to cut comes first.
        uses.sort_by_key(|(_, uses)| uses.len());
        let lines = uses.iter().map(|((by, of), uses)| {
            let more = uses.len().saturating_sub(SHOWN_NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("\n    {by} -> {of}: {}{more}", uses[..uses.len().min(SHOWN_NAMES)].join(", "))
        });
        let group: Vec<&str> = group.into_iter().map(String::as_str).collect();
        let parent = if parent.is_empty() { "the root".to_owned() } else { parent.join("::") };
        circles.push(format!(
            "below {parent}, these import each other in a circle: {}{}",
            group.join(", "),
            lines.collect::<String>()
        ));
    }
    circles
}

/// The children that one takes from, directly or through others.
fn reachable<'s>(from: &String, siblings: &'s Siblings) -> BTreeSet<&'s String> {
    let mut found: BTreeSet<&String> = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(next) = waiting.pop() {
        for (by, of) in siblings.keys() {
            if by == next && found.insert(of) {
                waiting.push(of);
            }
        }
    }
    found
}

#[test]
fn files_are_modules_of_the_nearest_crate() {
    let folders = BTreeSet::from(["a/src", "a/tests/model"]);
    let place =
        |name| place(name, &folders).map(|(folder, module)| format!("{folder} {}", module.join("::")));
    assert_eq!(place("a/src/lib.rs").as_deref(), Some("a/src "));
    assert_eq!(place("a/src/b/c.rs").as_deref(), Some("a/src b::c"));
    assert_eq!(place("a/tests/model/run.rs").as_deref(), Some("a/tests/model run"));
    assert_eq!(place("a/build.rs"), None);
}

#[test]
fn circles_between_siblings_are_found() {
    let check = |files: &[(&str, &'static str)]| {
        let module =
            |path: &str| -> Module { path.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect() };
        circles(&files.iter().map(|(path, text)| (module(path), product_tokens(text))).collect())
    };
    // A parent and its child may use each other, and the root and a module.
    let fine = [
        ("", "mod a; mod b; pub use b::B; fn main() { a::f(b::B) }"),
        ("a", "mod x; use crate::b::B; use x::X; pub struct A;"),
        ("a/x", "use super::A; use crate::main; pub struct X;"),
        ("b", "pub struct B;"),
    ];
    assert_eq!(check(&fine), [""; 0]);
    // Through what the root hands on, and through files below.
    let mut wrong = fine;
    wrong[3].1 = "use crate::a::x::X; pub struct B;";
    wrong[2].1 = "use crate::B; pub struct X;";
    assert_eq!(
        check(&wrong),
        [
            "below the root, these import each other in a circle: a, b\n    b -> a: X (b:1)\n    a -> b: B (a:1), B (a/x:1)"
        ]
    );
    // A long way round, below a module.
    let long = [
        ("", "mod a;"),
        ("a", "mod x; mod y; mod z;"),
        ("a/x", "use super::y::Y; #[cfg(test)] use super::z::Z;"),
        ("a/y", "fn f() { super::z::g() }"),
        ("a/z", "use crate::a::{x::{self}};"),
    ];
    assert_eq!(
        check(&long),
        [
            "below a, these import each other in a circle: x, y, z\n    x -> y: Y (a/x:1)\n    y -> z: g (a/y:1)\n    \
             z -> x: x (a/z:1)"
        ]
    );
}
