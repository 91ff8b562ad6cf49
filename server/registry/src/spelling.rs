//! Group names as another vocabulary spells them.
//!
//! Programs with built-in types name the product's groups in the spelling of one vocabulary. A server of the
//! other one lists only its own spelling, and still answers them: what they send is read in its own spelling,
//! and what they get is written in theirs. Only texts that are the name of a served group, alone or with a
//! version (`apiVersion`), change; keys of labels and texts for people do not.

use std::collections::HashMap;

use orch_runtime::{Tree, vocabulary::Vocabulary};

/// No name of a group and version is longer, in bytes.
const MAX_NAME: usize = 253 + 1 + 63;

/// The served groups in the spelling of another vocabulary.
#[derive(Debug)]
pub struct Spelling {
    /// The suffix of its groups.
    suffix: &'static str,
    /// From its spelling to that of the server.
    own: Names,
    /// From the spelling of the server to its own.
    asked: Names,
}

type Names = HashMap<String, String>;

impl Spelling {
    /// The groups of `served`, given as in schemas, each with its version, for a server that speaks `own`. A
    /// name that the server knows by itself keeps its meaning.
    pub fn new(asked: &'static Vocabulary, own: &Vocabulary, served: &[(&str, &str)]) -> Self {
        let mut spelling =
            Spelling { suffix: asked.group_suffix, own: Names::default(), asked: Names::default() };
        for (group, version) in served {
            let (theirs, ours) = (asked.group(group), own.group(group));
            if theirs == ours || served.iter().any(|(known, _)| own.group(known) == theirs) {
                continue;
            }
            for (theirs, ours) in [
                (format!("{theirs}/{version}"), format!("{ours}/{version}")),
                (theirs.into_owned(), ours.into_owned()),
            ] {
                spelling.asked.insert(ours.clone(), theirs.clone());
                spelling.own.insert(theirs, ours);
            }
        }
        spelling
    }

    /// The server's name for a group, or a group and version, in this spelling.
    pub fn own_name(&self, theirs: &str) -> Option<&str> {
        let group = theirs.split('/').next()?;
        if !group.ends_with(self.suffix) {
            return None;
        }
        self.own.get(theirs).map(String::as_str)
    }

    /// Puts what a client sent into the server's spelling.
    pub fn read(&self, tree: &mut Tree) {
        match tree {
            Tree::String(text) => {
                if let Some(own) = self.own_name(text) {
                    *text = own.to_owned();
                }
            }
            Tree::Array(items) => items.iter_mut().for_each(|item| self.read(item)),
            Tree::Object(fields) => fields.iter_mut().for_each(|(_, value)| self.read(value)),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }

    /// The same for JSON text, which stays as it is otherwise.
    pub fn read_json(&self, json: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(json.len());
        let taken = replace(json, &self.own, &mut out);
        out.extend_from_slice(&json[taken..]);
        out
    }

    /// Puts a piece of the JSON text of an answer into this spelling. `held` keeps between the pieces of one
    /// answer what cannot be judged yet; what it holds at the end is the rest of the answer.
    pub fn write_json(&self, piece: &[u8], held: &mut Vec<u8>) -> Vec<u8> {
        let mut out = Vec::with_capacity(held.len() + piece.len() + 16);
        if held.is_empty() {
            let taken = replace(piece, &self.asked, &mut out);
            held.extend_from_slice(&piece[taken..]);
        } else {
            held.extend_from_slice(piece);
            let taken = replace(held, &self.asked, &mut out);
            held.drain(..taken);
        }
        out
    }
}

/// Copies JSON text and replaces the strings that are names. Returns how much of the text it has copied: the
/// rest may be the beginning of a name.
fn replace(json: &[u8], names: &Names, out: &mut Vec<u8>) -> usize {
    let (mut copied, mut from) = (0, 0);
    while let Some(quote) = json[from..].iter().position(|byte| *byte == b'"').map(|offset| from + offset) {
        let text = &json[quote + 1..];
        let length = text.iter().take_while(|byte| is_part_of_a_name(**byte)).count();
        from = quote + 1 + length;
        // A quote that is escaped is part of a longer text.
        let is_escaped = quote.checked_sub(1).is_some_and(|before| json[before] == b'\\');
        match text.get(length) {
            None if length <= MAX_NAME && !is_escaped => {
                out.extend_from_slice(&json[copied..quote]);
                return quote;
            }
            Some(b'"') if !is_escaped => {
                let name = std::str::from_utf8(&text[..length]).ok().and_then(|name| names.get(name));
                if let Some(name) = name {
                    out.extend_from_slice(&json[copied..=quote]);
                    out.extend_from_slice(name.as_bytes());
                    copied = from;
                }
            }
            _ => {}
        }
    }
    // What comes next may be a quote, which this escapes.
    let end = json.strip_suffix(b"\\").unwrap_or(json).len();
    out.extend_from_slice(&json[copied..end]);
    end
}

fn is_part_of_a_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'/')
}

#[cfg(test)]
mod tests {
    use orch_meta::{KUBERNETES, ORCH};
    use serde_json::json;

    use super::*;

    const SERVED: &[(&str, &str)] =
        &[("", "v1"), ("apps", "v1"), ("rbac.authorization.orch.io", "v1"), ("taken.orch.io", "v1")];

    fn spelling() -> Spelling {
        let known = [SERVED, &[("taken.k8s.io", "v1")]].concat();
        Spelling::new(&KUBERNETES, &ORCH, &known)
    }

    #[test]
    fn only_names_of_served_groups_change() {
        const TEXT: &str = "see rbac.authorization.k8s.io";
        let mut tree = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io"},
            "groups": ["", "apps", "rbac.authorization.k8s.io", "other.k8s.io", "taken.k8s.io"],
            "annotations": {"rbac.authorization.k8s.io/note": TEXT},
            "version": "rbac.authorization.k8s.io/v2", "number": 1,
        });
        let text = spelling().read_json(tree.to_string().as_bytes());
        spelling().read(&mut tree);
        let expected = json!({
            "apiVersion": "rbac.authorization.orch.io/v1",
            "roleRef": {"apiGroup": "rbac.authorization.orch.io"},
            "groups": ["", "apps", "rbac.authorization.orch.io", "other.k8s.io", "taken.k8s.io"],
            "annotations": {"rbac.authorization.k8s.io/note": TEXT},
            "version": "rbac.authorization.k8s.io/v2", "number": 1,
        });
        assert_eq!(tree, expected);
        assert_eq!(serde_json::from_slice::<Tree>(&text).unwrap(), expected);
    }

    #[test]
    fn an_answer_is_the_same_however_it_is_cut() {
        let answer = concat!(
            r#"{"kind":"Role","apiVersion":"rbac.authorization.orch.io/v1","a":"\"rbac.authorization.orch.io","#,
            r#""apiGroup":"rbac.authorization.orch.io","group":"apps","b":"rbac.authorization.orch.iox"}"#,
        );
        let expected = answer
            .replace("\"rbac.authorization.orch.io/v1\"", "\"rbac.authorization.k8s.io/v1\"")
            .replace("Group\":\"rbac.authorization.orch.io\"", "Group\":\"rbac.authorization.k8s.io\"");
        let spelling = spelling();
        for size in 1..answer.len() {
            let (mut held, mut out) = (Vec::new(), Vec::new());
            for piece in answer.as_bytes().chunks(size) {
                out.extend(spelling.write_json(piece, &mut held));
            }
            out.extend(held);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "in pieces of {size}");
        }
        // The end of an event waits for nothing.
        let (mut held, event) = (Vec::new(), b"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Role\"}}\n");
        assert_eq!(spelling.write_json(event, &mut held), event);
        assert_eq!(held, b"");
    }
}
