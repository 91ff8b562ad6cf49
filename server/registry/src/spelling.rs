//! Group names as another vocabulary spells them.
//!
//! Programs with built-in types name the product's groups in the spelling of one vocabulary. A server of the
//! other one lists only its own spelling, and still answers them: what they send is read in its own spelling,
//! and what they get is written in theirs. Only texts that are the name of a served group, alone or with a
//! version, change, and only in [fields](field) that hold such names: all other texts are the user's.

mod field;
mod text;

use std::collections::HashMap;

use orch_runtime::{Tree, type_def::TypeDef, vocabulary::Vocabulary};

use field::{Fields, Place};
pub use text::Piecewise;

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
    fields: Fields,
}

type Names = HashMap<String, String>;

impl Spelling {
    /// The groups of `served`, given as in schemas, each with its version, for a server that speaks `own`. A
    /// name that the server knows by itself keeps its meaning. `types` are those of the served kinds.
    pub fn new(
        asked: &'static Vocabulary,
        own: &Vocabulary,
        served: &[(&str, &str)],
        types: impl IntoIterator<Item = &'static TypeDef>,
    ) -> Self {
        let mut spelling = Spelling {
            suffix: asked.group_suffix,
            own: Names::default(),
            asked: Names::default(),
            fields: Fields::of(types),
        };
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

    /// Puts an object that a client sent into the server's spelling.
    pub fn read(&self, tree: &mut Tree) {
        self.read_at(std::iter::empty::<&str>(), tree);
    }

    /// The same for a value that stands in an object behind these names and indexes.
    pub fn read_at(&self, steps: impl IntoIterator<Item = impl AsRef<str>>, tree: &mut Tree) {
        let begin = Place::Fields;
        let place = steps.into_iter().fold(begin, |place, step| {
            // An item of a list stands where its list stands.
            let is_item = step.as_ref() == "-" || step.as_ref().parse::<i64>().is_ok();
            if is_item { place } else { self.fields.below(place, step.as_ref()) }
        });
        self.read_in(place, tree);
    }

    fn read_in(&self, place: Place, tree: &mut Tree) {
        match tree {
            Tree::String(text) if place == Place::Group => {
                if let Some(own) = self.own_name(text) {
                    *text = own.to_owned();
                }
            }
            Tree::Array(items) => items.iter_mut().for_each(|item| self.read_in(place, item)),
            Tree::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    self.read_in(self.fields.below(place, name), value);
                }
            }
            Tree::String(_) | Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }

    /// Puts a piece of the JSON text of an answer into this spelling. `state` goes from piece to piece of one
    /// answer.
    pub fn write_json(&self, piece: &[u8], state: &mut Piecewise) -> Vec<u8> {
        state.push(piece, &self.fields, &self.asked)
    }
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
        let types = orch_api::registry().iter().flat_map(|group| group.resources).map(|def| def.type_def);
        Spelling::new(&KUBERNETES, &ORCH, &known, types)
    }

    #[test]
    fn only_names_of_served_groups_change_and_only_where_groups_are_named() {
        const GROUP: &str = "rbac.authorization.k8s.io";
        let object = |group: &str| {
            let version = format!("{group}/v1");
            json!({
                "apiVersion": version, "kind": "Role",
                "metadata": {
                    "annotations": {"note": GROUP, "apiGroup": GROUP, "group": format!("{GROUP}/v1")},
                    "labels": {"apiVersion": GROUP},
                    "ownerReferences": [{"apiVersion": version, "kind": "Role", "name": GROUP}],
                    "managedFields": [{"apiVersion": version, "fieldsV1": {"apiGroup": GROUP}}],
                },
                "data": {"apiGroup": GROUP},
                "roleRef": {"apiGroup": group, "name": GROUP},
                "rules": [{"apiGroups": ["", "apps", group, "other.k8s.io", "taken.k8s.io"], "x": [GROUP]}],
                "spec": {"containers": [{"image": GROUP, "args": [GROUP], "env": [{"value": GROUP}]}]},
                "message": format!("see {GROUP}"), "version": "rbac.authorization.k8s.io/v2", "number": 1,
            })
        };
        let mut tree = object(GROUP);
        spelling().read(&mut tree);
        assert_eq!(tree, object("rbac.authorization.orch.io"));
        // And back.
        let text = spelling().write_json(tree.to_string().as_bytes(), &mut Piecewise::default());
        assert_eq!(serde_json::from_slice::<Tree>(&text).unwrap(), object(GROUP));
    }

    #[test]
    fn a_part_of_an_object_is_read_as_what_it_is_a_part_of() {
        for (path, is_group) in [
            (&["roleRef", "apiGroup"][..], true),
            (&["rules", "0", "apiGroups", "-"], true),
            (&["metadata", "annotations", "apiGroup"], false),
            (&["metadata", "name"], false),
        ] {
            let mut value = json!("rbac.authorization.k8s.io");
            spelling().read_at(path, &mut value);
            assert_eq!(value == "rbac.authorization.orch.io", is_group, "{path:?}");
        }
        let mut value = json!([{"apiGroups": ["rbac.authorization.k8s.io"]}]);
        spelling().read_at(["rules"], &mut value);
        assert_eq!(value[0]["apiGroups"][0], "rbac.authorization.orch.io");
    }

    #[test]
    fn an_answer_is_the_same_however_it_is_cut() {
        let group = r#""rbac.authorization.orch.io""#;
        let object = |group: &str| {
            format!(
                r#"{{"kind":"Role","apiVersion":"rbac.authorization.orch.io/v1","a":"\"{group}","b\"":{{"#,
            ) + &format!(
                r#""apiGroup" : {group} , "group":"apps","apiGroups":["",[{group}],7,{{}}, {group}]}},"#
            ) + r#""c":{"apiGroup":"rbac.authorization.orch.iox"},"d":"rbac.authorization.orch.io","#
                + r#""e":{"annotations":{"apiGroup":"rbac.authorization.orch.io","x":{"group":"apps"}}}}"#
        };
        let answer = format!("{}\n{}\n", object(group), object(group));
        // As it is, but for the text with the escape.
        let expected = answer
            .replace("\"rbac.authorization.orch.io/v1\"", "\"rbac.authorization.k8s.io/v1\"")
            .replace(&format!("\"apiGroup\" : {group}"), "\"apiGroup\" : \"rbac.authorization.k8s.io\"")
            .replace(&format!("[{group}]"), "[\"rbac.authorization.k8s.io\"]")
            .replace(&format!(", {group}]"), ", \"rbac.authorization.k8s.io\"]");
        let spelling = spelling();
        for size in 1..answer.len() {
            let mut state = Piecewise::default();
            let mut out = Vec::new();
            for piece in answer.as_bytes().chunks(size) {
                out.extend(spelling.write_json(piece, &mut state));
            }
            assert_eq!(state.rest(), b"");
            assert_eq!(String::from_utf8(out).unwrap(), expected, "in pieces of {size}");
        }
        // What is cut off is not lost, and the end of an event waits for nothing.
        for (text, rest) in [(r#"{"apiVersion":"rbac.auth"#, "rbac.auth"), ("{\"type\":\"ADDED\"}\n", "")] {
            let mut state = Piecewise::default();
            let out = spelling.write_json(text.as_bytes(), &mut state);
            assert_eq!(String::from_utf8(out).unwrap() + rest, text);
            assert_eq!(state.rest(), rest.as_bytes());
        }
    }
}
