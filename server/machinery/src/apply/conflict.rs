//! Conflicts of an apply: fields that it would change and that other managers own.

use std::fmt;

use orch_runtime::{Tree, field_error::Shown};

use crate::{
    fieldset::{Element, Step},
    managed_fields::{Entry, Operation},
};

/// A field that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The owner: `"tool" using v1`, `"node" with subresource "status"`.
    pub manager: String,
    /// The field: `.spec.containers[name="c"].image`.
    pub field: String,
}

/// All conflicts of an apply, by manager, then by field. Never empty. `Display` writes the message of the
/// response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(pub Vec<Conflict>);

impl Conflict {
    /// The message of a cause in the details of a `Status`; the field stands beside it.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = &*self.0 {
            return write!(out, "Apply failed with 1 conflict: {}: {}", only.message(), only.field);
        }
        write!(out, "Apply failed with {} conflicts: ", self.0.len())?;
        let mut manager = None;
        for (index, conflict) in self.0.iter().enumerate() {
            if manager != Some(&conflict.manager) {
                manager = Some(&conflict.manager);
                let separator = if index > 0 { "\n" } else { "" };
                write!(out, "{separator}conflicts with {}:", conflict.manager)?;
            }
            write!(out, "\n- {}", conflict.field)?;
        }
        Ok(())
    }
}

/// The name of a manager in messages.
pub(super) fn manager_text(entry: &Entry<'_>) -> String {
    let mut text = entry.manager.shown();
    if !entry.subresource.is_empty() {
        text = format!("{text} with subresource {}", entry.subresource.shown());
    }
    if entry.operation == Operation::Update {
        text = format!("{text} using {}", entry.api_version);
    }
    text
}

/// The path in messages: `.spec.ports[containerPort=80,protocol="TCP"]`.
pub(super) fn path_text(path: &[&Element<'_>]) -> String {
    path.iter().map(|element| element_text(element)).collect()
}

/// One element of such a path.
pub(super) fn element_text(element: &Element<'_>) -> String {
    match element.step() {
        Step::Field(name) => format!(".{name}"),
        Step::Key(json) => {
            let keys: Tree = serde_json::from_str(json).unwrap_or_default();
            let keys: Vec<String> = keys
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, value)| format!("{key}={}", shown(value)))
                .collect();
            format!("[{}]", keys.join(","))
        }
        Step::Value(json) => format!(
            "[={}]",
            serde_json::from_str(json).map_or_else(|_| json.to_owned(), |value| shown(&value))
        ),
        Step::Position(index) => format!("[{index}]"),
    }
}

fn shown(value: &Tree) -> String {
    value.as_str().map_or_else(|| value.to_string(), Shown::shown)
}
