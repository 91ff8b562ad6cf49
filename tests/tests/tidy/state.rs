//! No state of the process: what changes belongs to a value that somebody made and handed on, so that two
//! servers, or two tests, can live in one process.

use std::collections::BTreeSet;

use crate::{
    rust_text::{Token, TokenKind},
    source::{SOURCES, none},
};

/// Where no such state may be: what is in the product when it runs.
const FOLDERS: &[&str] = &["server/", "codegen/runtime/", "generated/src/"];

/// Types of statics that can change, or that are made when they are first used. Every `Atomic...` is one as
/// well.
const CHANGEABLE: &[&str] = &[
    "ArcSwap",
    "ArcSwapOption",
    "Condvar",
    "DashMap",
    "LazyLock",
    "Mutex",
    "Notify",
    "Once",
    "OnceCell",
    "OnceLock",
    "RwLock",
    "Semaphore",
];

/// Statics that may stay: file, name, reason.
const EXCEPTED: &[(&str, &str, &str)] = &[
    ("codegen/runtime/src/field_error/shown.rs", "PRINTABLE", PATTERN),
    ("codegen/runtime/src/constraint/storage.rs", "IQN", PATTERN),
    ("codegen/runtime/src/constraint/storage.rs", "EUI", PATTERN),
    ("codegen/runtime/src/constraint/storage.rs", "NAA", PATTERN),
    ("generated/src/formats.rs", "NETBIOS_DOMAIN", PATTERN),
    ("generated/src/formats.rs", "DNS_DOMAIN", PATTERN),
    (
        "server/trace/src/request.rs",
        "CURRENT",
        "it belongs to the task that answers a request, and holds nothing outside of one",
    ),
];

const PATTERN: &str = "a pattern that is compiled at its first use";

#[test]
fn nothing_changes_that_belongs_to_the_process() {
    let is_ours = |name: &str| FOLDERS.iter().any(|folder| name.starts_with(folder));
    let files: Vec<(&str, Vec<Token<'_>>)> = SOURCES
        .iter()
        .filter(|source| is_ours(&source.name))
        .map(|source| (source.name.as_str(), source.product_tokens()))
        .collect();
    assert!(files.len() > 100, "the folders are not found");
    let changeable = changeable_types(files.iter().map(|(_, tokens)| tokens.as_slice()));
    let mut excepted: BTreeSet<(&str, &str)> =
        EXCEPTED.iter().map(|(file, name, _)| (*file, *name)).collect();
    let mut problems = Vec::new();
    for (file, tokens) in &files {
        for (line, name) in changeable_statics(tokens, &changeable) {
            if !excepted.remove(&(*file, name)) {
                problems.push(format!("{file}:{line}: {name} is state of the process"));
            }
        }
    }
    problems.extend(excepted.iter().map(|(file, name)| format!("{file}: {name} is excepted without need")));
    none(&problems);
}

fn is_changeable(name: &str, others: &BTreeSet<&str>) -> bool {
    name.starts_with("Atomic") || CHANGEABLE.contains(&name) || others.contains(name)
}

/// The structures and enumerations that hold something changeable, and those that hold one of them.
fn changeable_types<'t>(files: impl Iterator<Item = &'t [Token<'t>]>) -> BTreeSet<&'t str> {
    let mut types: Vec<(&str, Vec<&str>)> = Vec::new();
    for tokens in files {
        for (at, token) in tokens.iter().enumerate() {
            let is_type = token.is_name("struct") || token.is_name("enum");
            if let (true, Some(name)) = (is_type, tokens.get(at + 1)) {
                types.push((name.text, names_in_body(&tokens[at + 2..], token.is_name("enum"))));
            }
        }
    }
    let mut found = BTreeSet::new();
    loop {
        let is_new = |name: &str, parts: &[&str]| {
            !found.contains(name) && parts.iter().any(|part| is_changeable(part, &found))
        };
        let more: Vec<&str> =
            types.iter().filter(|(name, parts)| is_new(name, parts)).map(|(name, _)| *name).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The names in the body of a type whose name stands before these tokens; without those of variants, which
/// are no types.
fn names_in_body<'t>(tokens: &[Token<'t>], is_enum: bool) -> Vec<&'t str> {
    let (mut depth, mut names) = (0, Vec::new());
    for token in tokens {
        match (token.kind, token.text) {
            (TokenKind::Sign, "{" | "(") => depth += 1,
            (TokenKind::Sign, "}" | ")") => {
                depth -= 1;
                if depth == 0 && token.text == "}" {
                    break;
                }
            }
            (TokenKind::Sign, ";") if depth == 0 => break,
            (TokenKind::Name, name) if !is_enum || depth > 1 => names.push(name),
            _ => {}
        }
    }
    names
}

/// The statics that can change, with their lines: `static mut`, those of a changeable type, and those of a
/// thread.
fn changeable_statics<'t>(tokens: &[Token<'t>], changeable: &BTreeSet<&str>) -> Vec<(usize, &'t str)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.is_name("thread_local") && tokens.get(at + 1).is_some_and(|next| next.is_sign("!")) {
            found.push((token.line, "thread_local"));
        }
        if !token.is_name("static") {
            continue;
        }
        let is_mut = tokens.get(at + 1).is_some_and(|next| next.is_name("mut"));
        let Some(name) = tokens.get(at + 1 + usize::from(is_mut)) else { continue };
        let ty = tokens[at + 1..].iter().take_while(|token| !token.is_sign("=") && !token.is_sign(";"));
        let can_change = ty
            .clone()
            .skip(1)
            .any(|part| part.kind == TokenKind::Name && is_changeable(part.text, changeable));
        if is_mut || can_change {
            found.push((token.line, name.text));
        }
    }
    found
}

#[test]
fn every_sort_of_state_is_found() {
    let text = "
        struct Table { rows: Vec<Row> }
        struct Row(Mutex<u8>);
        enum Plain { Once, B(Tail) }
        struct Tail { rest: u8 }
        static NAMES: &[&str] = &[\"Mutex\"];
        static PLAIN: Plain = Plain::Once;
        pub static TABLE: Table = Table::new();
        static COUNT: std::sync::atomic::AtomicU64 = AtomicU64::new(0);
        static LAZY: LazyLock<Vec<u8>> = LazyLock::new(Vec::new);
        static mut WORST: u8 = 0;
        fn f(x: &'static Mutex<u8>) { thread_local! { static T: u8 = 0; } }
        #[cfg(test)] static TESTS: Mutex<u8> = Mutex::new(0);
    ";
    let tokens = crate::rust_text::product_tokens(text);
    let types = changeable_types([tokens.as_slice()].into_iter());
    assert_eq!(Vec::from_iter(types.clone()), ["Row", "Table"]);
    let found: Vec<&str> = changeable_statics(&tokens, &types).into_iter().map(|(_, name)| name).collect();
    assert_eq!(found, ["TABLE", "COUNT", "LAZY", "WORST", "thread_local"]);
}
