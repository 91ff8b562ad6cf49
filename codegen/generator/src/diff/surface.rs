//! `surface.yaml`: what a product promises beside its schema: flags, feature gates, metrics, annotations,
//! configuration files, behaviours.
//!
//! ```yaml
//! flags:
//!   --audit-log-path: stable
//! gates:
//!   WidgetColours: {stage: beta, deprecated: "1.31"}
//! metrics:
//!   widgets_made_total: {stage: stable, introduced: "1.28"}
//! annotations:
//!   example.com/colour: stable
//! configurations:
//!   audit.example.com/v1beta1 Policy: {stage: beta, introduced: "1.30"}
//! ```
//!
//! An entry is a stage, or a map with it. What goes was deprecated, and stays for a time that depends on the
//! class and the stage.

use std::collections::BTreeMap;

use super::{
    releases::{BETA, Period, Release},
    stability::Stability,
};
use crate::{
    diagnostic::{Diagnostics, Span, suggest},
    source::Node,
};

/// A class of elements, and how long an element stays after it was deprecated, by its stage.
pub(super) struct Class {
    /// The key in the file.
    pub key: &'static str,
    /// What people call an element.
    pub noun: &'static str,
    /// Of a beta element.
    pub beta: Period,
    /// Of a stable element; none where it stays for all releases of a major version.
    pub stable: Option<Period>,
    /// How long an element is there in all, where that is promised: beta, stable.
    pub lifetime: Option<(Period, Period)>,
}

const fn period(months: u32, releases: u32) -> Period {
    Period { months, releases }
}

/// All of them.
pub(super) const CLASSES: &[Class] = &[
    // For operators.
    class("flags", "flag", period(3, 1), Some(period(6, 1))),
    // For users.
    class("commands", "command", period(3, 1), Some(period(12, 2))),
    // A stable feature no longer has a choice, and its gate stays for a time.
    class("gates", "feature gate", period(3, 1), Some(period(6, 2))),
    Class {
        lifetime: Some((period(8, 2), period(12, 4))),
        ..class("metrics", "metric", period(4, 1), Some(period(9, 3)))
    },
    // Elements of an API, like its versions.
    class("annotations", "annotation", BETA, None),
    class("configurations", "configuration", BETA, None),
    class("behaviours", "behaviour", period(12, 0), Some(period(12, 0))),
];

const fn class(key: &'static str, noun: &'static str, beta: Period, stable: Option<Period>) -> Class {
    Class { key, noun, beta, stable, lifetime: None }
}

/// The elements of a product, by class and name.
#[derive(Debug, Default)]
pub struct Surface {
    pub(super) elements: BTreeMap<(&'static str, String), Element>,
    /// As written.
    pub node: Option<Node>,
}

/// A flag, gate, metric ...
#[derive(Debug)]
pub(super) struct Element {
    pub stage: Stability,
    pub introduced: Option<Release>,
    pub deprecated: Option<Release>,
    pub span: Span,
}

impl Surface {
    /// Reads the file, or the same part of a lock.
    pub fn read(node: &Node, diagnostics: &mut Diagnostics) -> Self {
        let mut elements = BTreeMap::new();
        for (key, list) in node.entries() {
            let Some(class) = CLASSES.iter().find(|class| class.key == key.value) else {
                let known: Vec<&str> = CLASSES.iter().map(|class| class.key).collect();
                let message = format!("`{}` is no class of elements", key.value);
                diagnostics
                    .error(&key.span, message, suggest::did_you_mean(&key.value, &known))
                    .code("E0133");
                continue;
            };
            for (name, written) in list.entries() {
                match element(&name.span, written) {
                    Ok(element) => {
                        elements.insert((class.key, name.value.clone()), element);
                    }
                    Err((message, help)) => diagnostics.error(&written.span, message, help).code("E0133"),
                }
            }
        }
        Surface { elements, node: Some(node.clone()) }
    }

    /// The names of a class, each with its stage.
    pub fn of(&self, class: &str) -> BTreeMap<&str, &'static str> {
        let of_class = self.elements.iter().filter(|((key, _), _)| *key == class);
        of_class.map(|((_, name), element)| (name.as_str(), element.stage.word())).collect()
    }
}

fn element(span: &Span, written: &Node) -> Result<Element, (String, &'static str)> {
    let stage = written.text().or_else(|| written.get("stage")?.text()).unwrap_or_default();
    let Some(stage) = [Stability::Alpha, Stability::Beta, Stability::Stable]
        .into_iter()
        .find(|known| known.word() == stage)
    else {
        return Err((format!("`{stage}` is not a stage"), "write `alpha`, `beta` or `stable`"));
    };
    let release = |key: &str| match written.get(key) {
        None => Ok(None),
        Some(node) => match node.text().map(str::parse) {
            Some(Ok(release)) => Ok(Some(release)),
            _ => Err((format!("`{key}` is not a release"), "a release is two numbers in quotes: \"1.2\"")),
        },
    };
    let (introduced, deprecated) = (release("introduced")?, release("deprecated")?);
    Ok(Element { stage, introduced, deprecated, span: span.clone() })
}
