//! Which modules of its crate a file takes names from: its `use` declarations, and paths in its code.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust_text::{Token, TokenKind};

/// The place of a module in its crate: `["storage", "memory"]`; the root is empty.
pub type Module = Vec<String>;

/// A path in a file, from the root of the crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Where the path stands: a line of the module that takes something.
    pub by: Module,
    /// That line.
    pub line: usize,
    /// The path, from the root; `*` for everything.
    pub path: Vec<String>,
    /// The name that it gets in the module, where it is imported.
    pub name: Option<String>,
}

/// All paths in a module's tokens that may lead to modules of its crate. Paths that begin with another name
/// than `crate`, `super` and `self` are taken for paths into `children`, the modules below, or left out.
pub fn taken(module: &Module, tokens: &[Token<'_>], children: &BTreeSet<Module>) -> Vec<Taken> {
    let mut found = Vec::new();
    // Modules whose braces are open, and the depth outside of them.
    let mut inline: Vec<(usize, String)> = Vec::new();
    let (mut depth, mut at) = (0, 0);
    while at < tokens.len() {
        let token = &tokens[at];
        let by: Module = module.iter().cloned().chain(inline.iter().map(|(_, name)| name.clone())).collect();
        // `use<'a>` names what a type captures.
        if token.is_name("use") && !tokens.get(at + 1).is_some_and(|next| next.is_sign("<")) {
            let end = at + tokens[at..].iter().position(|t| t.is_sign(";")).unwrap_or(tokens.len() - at);
            for (path, name) in use_tree(&tokens[at + 1..end], &[]) {
                if let Some(path) = absolute(&by, &path, children) {
                    found.push(Taken { by: by.clone(), line: token.line, path, name: Some(name) });
                }
            }
            at = end;
        } else if is_root_of_path(tokens, at) {
            let path = path_at(&tokens[at..]);
            if let Some(absolute) = absolute(&by, &path, children) {
                found.push(Taken { by, line: token.line, path: absolute, name: None });
            }
            at += path.len() * 3 - 2;
        } else {
            match (token.kind, token.text) {
                (TokenKind::Name, "mod") if tokens.get(at + 2).is_some_and(|next| next.is_sign("{")) => {
                    inline.push((depth, tokens[at + 1].text.to_owned()));
                }
                (TokenKind::Sign, "{") => depth += 1,
                (TokenKind::Sign, "}") => {
                    depth -= 1;
                    inline.pop_if(|(outside, _)| *outside == depth);
                }
                _ => {}
            }
            at += 1;
        }
    }
    found
}

/// Whether a path begins here that says where it begins, other than the place of a visibility: `pub(in
/// crate::a)`.
fn is_root_of_path(tokens: &[Token<'_>], at: usize) -> bool {
    let is_root = ["crate", "super", "self"].iter().any(|root| tokens[at].is_name(root));
    let goes_on = |by: usize| tokens.get(at + by).is_some_and(|next| next.is_sign(":"));
    let is_visibility = at >= 3 && tokens[at - 1].is_name("in") && tokens[at - 3].is_name("pub");
    let is_inside = at >= 1 && tokens[at - 1].is_sign(":") && at >= 2 && tokens[at - 2].is_sign(":");
    is_root && goes_on(1) && goes_on(2) && !is_visibility && !is_inside
}

/// The segments of a path that begins here.
fn path_at(tokens: &[Token<'_>]) -> Vec<String> {
    let mut path = vec![tokens[0].text.to_owned()];
    let mut rest = &tokens[1..];
    while let [one, two, name, ..] = rest {
        if !(one.is_sign(":") && two.is_sign(":") && name.kind == TokenKind::Name) {
            break;
        }
        path.push(name.text.to_owned());
        rest = &rest[3..];
    }
    path
}

/// The paths of a `use` declaration without its keyword, and the names they get.
fn use_tree(tokens: &[Token<'_>], before: &[String]) -> Vec<(Vec<String>, String)> {
    let mut path = before.to_vec();
    let mut name = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.text {
            "{" => {
                let inner = &tokens[at + 1..at + closing(&tokens[at..])];
                return split(inner).into_iter().flat_map(|tree| use_tree(tree, &path)).collect();
            }
            "as" => {
                name = tokens.get(at + 1).map(|name| name.text.to_owned());
                break;
            }
            // `{self, ...}` is the module before the braces.
            "self" if !path.is_empty() => {}
            ":" => {}
            segment => path.push(segment.to_owned()),
        }
        at += 1;
    }
    let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
    if path.is_empty() { Vec::new() } else { vec![(path, name)] }
}

/// Where the brace that the tokens begin with is closed.
fn closing(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// The parts between commas that stand in no braces.
fn split<'a, 't>(tokens: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let mut depth = 0;
    tokens
        .split(|token| {
            match token.text {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            depth == 0 && token.is_sign(",")
        })
        .collect()
}

/// The path from the root of the crate; nothing for a path into another crate.
fn absolute(by: &Module, path: &[String], modules: &BTreeSet<Module>) -> Option<Vec<String>> {
    let mut base = by.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|segment| segment == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        first => {
            base.push(first.to_owned());
            let is_child = modules.contains(&base);
            base.pop();
            is_child.then_some(())?;
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

/// The names that modules import, and with that can hand on: module and name, and the path that it stands
/// for.
pub fn names(taken: &[Taken]) -> BTreeMap<(Module, String), Vec<String>> {
    let named =
        taken.iter().filter_map(|taken| Some(((taken.by.clone(), taken.name.clone()?), taken.path.clone())));
    named.collect()
}

/// The module that a path leads to, through names that modules hand on.
pub fn module_of(
    path: &[String],
    modules: &BTreeSet<Module>,
    names: &BTreeMap<(Module, String), Vec<String>>,
) -> Module {
    /// Names that lead in a circle are an error of the compiler; this is more than any chain of names is
    /// long.
    const MAX_NAMES: usize = 20;
    let mut path = path.to_vec();
    let mut at = Module::new();
    for _ in 0..MAX_NAMES {
        at.clear();
        let mut next = None;
        for (index, segment) in path.iter().enumerate() {
            at.push(segment.clone());
            if !modules.contains(&at) {
                at.pop();
                let target = names.get(&(at.clone(), segment.clone()));
                next = target.map(|target| [target.as_slice(), &path[index + 1..]].concat());
                break;
            }
        }
        match next {
            Some(longer) if longer != path => path = longer,
            _ => return at,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rust_text::product_tokens;

    fn module(path: &str) -> Module {
        path.split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
    }

    fn paths(by: &str, text: &str) -> Vec<String> {
        let modules = BTreeSet::from([module("a"), module("a::b"), module("c")]);
        let taken = taken(&module(by), &product_tokens(text), &modules);
        taken.into_iter().map(|taken| format!("{} {}", taken.by.join("::"), taken.path.join("::"))).collect()
    }

    #[test]
    fn paths_are_found_in_declarations_and_code() {
        assert_eq!(
            paths(
                "a::b",
                "pub use crate::{c::{self, D as E}, x}; use super::{Y, self}; use std::fmt; use super::*;"
            ),
            ["a::b c", "a::b c::D", "a::b x", "a::b a::Y", "a::b a", "a::b a::*"]
        );
        assert_eq!(paths("a", "fn f() -> impl T + use<'_> { super::x() }"), ["a x"]);
        assert_eq!(paths("a", "use b::X; use self::b::Z; use http::X;"), ["a a::b::X", "a a::b::Z"]);
        assert_eq!(
            paths(
                "a::b",
                "pub(in crate::a) fn f() -> super::T { crate::c::g(Self::h, self.x, super::super::C) }"
            ),
            ["a::b a::T", "a::b c::g", "a::b C"]
        );
        assert_eq!(
            paths("a", "mod inner { use super::X; fn f() { if x {} } } fn g() { super::h() }"),
            ["a::inner a::X", "a h"]
        );
    }

    #[test]
    fn names_that_are_handed_on_lead_to_their_modules() {
        let modules = BTreeSet::from(["a", "a::b", "c"].map(module));
        let root = taken(&module(""), &product_tokens("pub use a::Deep; mod a; mod c;"), &modules);
        let a = taken(&module("a"), &product_tokens("pub use b::Deep; pub use b as short;"), &modules);
        let names = names(&[root, a].concat());
        for (path, expected) in [
            ("Deep", "a::b"),
            ("a::Deep", "a::b"),
            ("a::short::X", "a::b"),
            ("a::Own", "a"),
            ("c", "c"),
            ("X", ""),
        ] {
            assert_eq!(module_of(&module(path), &modules, &names), module(expected), "{path}");
        }
    }
}
