//! How kinds are served: names, scope, verbs, subresources, selectors.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    codes,
    comparison::{Comparison, Finding, Named},
    conversions,
    releases::BETA,
    stability::Stability,
    state::{Declared, words},
    values::is_wider,
    versions::Stages,
};
use crate::{
    diagnostic::Span,
    idl::Word as _,
    model::{UpdateCheck, Verb},
    source::Node,
};

/// Flags of `x-orch-resource`: what each is where it is not written, and which change of it breaks clients.
const FLAGS: &[(&str, bool, Breaks)] = &[
    ("virtual", false, Breaks::Any),
    ("createOnUpdate", false, Breaks::TurnedOff),
    ("unconditionalUpdate", true, Breaks::TurnedOff),
    ("generation", false, Breaks::TurnedOff),
    ("deleteReturnsObject", false, Breaks::Any),
];

/// The name format where none is written.
const NAME_FORMAT: &str = "dns-subdomain";

enum Breaks {
    Any,
    TurnedOff,
}

/// Compares the kind of an old type with that of the same name now.
pub(super) fn compare<'s>(cx: &mut Comparison<'s>, name: &'s str, old: &'s Declared, new: &'s Declared) {
    let (Some(old_resource), Some(new_resource)) = (old.resource(), new.resource()) else { return };
    let kind = Kind {
        at: name,
        name: &old.name,
        old: Named { node: old_resource, span: &old.span },
        new: Named { node: new_resource, span: &new.span },
    };
    kind.names(cx);
    kind.verbs(cx);
    kind.subresources(cx);
    kind.selectors(cx);
    kind.flags(cx);
    kind.update_checks(cx);
    kind.metadata_rules(cx);
    conversions::compare(cx, name, &old.name, (kind.old, kind.new));
    cx.types(name, name);
}

#[derive(Clone, Copy)]
struct Kind<'s> {
    at: &'s str,
    name: &'s str,
    old: Named<'s>,
    new: Named<'s>,
}

impl<'s> Kind<'s> {
    fn keyword(
        &self,
        cx: &mut Comparison<'s>,
        code: &'static str,
        keyword: &str,
        message: String,
        help: &str,
    ) {
        cx.keyword(code, self.at, keyword, (self.old, self.new), (message, help));
    }

    fn names(&self, cx: &mut Comparison<'s>) {
        let text = |side: Named<'s>, key: &str| side.node.get(key).and_then(Node::text);
        for (keyword, code, help) in [
            ("scope", codes::SCOPE, "every URL of its objects changes: make a new kind, or a new version"),
            ("plural", codes::PLURAL, "every URL of its objects changes: keep the name"),
        ] {
            let (old, new) = (text(self.old, keyword), text(self.new, keyword));
            if let (Some(old), Some(new)) = (old, new)
                && old != new
            {
                let message = format!("`{keyword}` of `{}` was `{old}`, and is `{new}`", self.name);
                self.keyword(cx, code, keyword, message, help);
            }
        }
        let singular =
            |side: Named<'s>| text(side, "singular").map_or_else(|| self.name.to_lowercase(), str::to_owned);
        let help = "people and scripts use it: keep it";
        let kept: BTreeSet<String> = words(self.new.node, "shortNames")
            .into_iter()
            .map(str::to_owned)
            .chain([singular(self.new)])
            .chain(text(self.new, "plural").map(str::to_owned))
            .collect();
        let lost = |keyword: &str, name: &str| {
            format!("`{}` is not found by `{name}` any more ({keyword})", self.name)
        };
        for name in words(self.old.node, "shortNames").into_iter().filter(|name| !kept.contains(*name)) {
            self.keyword(cx, codes::NAME_LOST, "shortNames", lost("short name", name), help);
        }
        let old_singular = singular(self.old);
        if !kept.contains(&old_singular) {
            self.keyword(cx, codes::NAME_LOST, "singular", lost("singular name", &old_singular), help);
        }
        for name in words(self.old.node, "categories").difference(&words(self.new.node, "categories")) {
            self.keyword(cx, codes::NAME_LOST, "categories", lost("category", name), help);
        }
        let format = |side| text(side, "nameFormat").unwrap_or(NAME_FORMAT);
        let (old, new) = (format(self.old), format(self.new));
        if !is_wider(old, new) {
            let message =
                format!("names of `{}` have the format `{new}`, which allows less than `{old}`", self.name);
            let help = "objects whose names do not have it cannot be written any more: keep the format";
            self.keyword(cx, codes::NAME_FORMAT, "nameFormat", message, help);
        }
    }

    fn verbs(&self, cx: &mut Comparison<'s>) {
        let verbs = |side: Named<'s>| {
            let usual: BTreeSet<&str> = match side.node.get("virtual").map(Node::to_json) {
                Some(serde_json::Value::Bool(true)) => BTreeSet::from(["create"]),
                _ => Verb::WORDS.iter().map(|(word, _)| *word).collect(),
            };
            side.node.get("verbs").map_or(usual, |_| words(side.node, "verbs"))
        };
        for verb in verbs(self.old).difference(&verbs(self.new)) {
            let message = format!("`{}` has no verb `{verb}` any more", self.name);
            self.keyword(cx, codes::VERB_LOST, "verbs", message, "clients rely on it: keep it");
        }
    }

    fn subresources(&self, cx: &mut Comparison<'s>) {
        let (old, new) = (subresources(self.old.node), subresources(self.new.node));
        for (name, old) in &old {
            let lost = |new: &Subresource<'s>| old.verbs.difference(&new.verbs).next().copied();
            let message = match new.get(name) {
                None => format!("`{}` has no subresource `{name}` any more", self.name),
                Some(new) if new.body != old.body => {
                    format!("the subresource `{name}` of `{}` has another body", self.name)
                }
                Some(new) if new.scale != old.scale => {
                    format!("the scale of `{}` is at other places", self.name)
                }
                Some(new) if lost(new).is_some() => {
                    let verb = lost(new).unwrap_or_default();
                    format!("the subresource `{name}` of `{}` has no verb `{verb}` any more", self.name)
                }
                Some(_) => {
                    if let Some(body) = old.body {
                        cx.types(body, body);
                    }
                    continue;
                }
            };
            let help = "clients rely on it: keep it in this version";
            self.keyword(cx, codes::SUBRESOURCE, "subresources", message, help);
        }
    }

    fn selectors(&self, cx: &mut Comparison<'s>) {
        let names = |side: Named<'s>| {
            let mut names: BTreeSet<String> = words(side.node, "selectableFields")
                .into_iter()
                .map(|path| path.trim_start_matches('.').to_owned())
                .collect();
            let others = side.node.get("selectableNames").map(Node::items).unwrap_or_default();
            names.extend(others.iter().filter_map(|other| other.get("name")?.text()).map(str::to_owned));
            names
        };
        for name in names(self.old).difference(&names(self.new)) {
            let message = format!("lists of `{}` cannot be selected by `{name}` any more", self.name);
            let help = "clients rely on it: keep it in `selectableFields`";
            self.keyword(cx, codes::SELECTOR_LOST, "selectableFields", message, help);
        }
    }

    fn flags(&self, cx: &mut Comparison<'s>) {
        for (flag, usual, breaks) in FLAGS {
            let is_on = |side: Named<'s>| {
                side.node.get(flag).and_then(|node| node.to_json().as_bool()).unwrap_or(*usual)
            };
            let (old, new) = (is_on(self.old), is_on(self.new));
            let is_broken = match breaks {
                Breaks::Any => old != new,
                Breaks::TurnedOff => old && !new,
            };
            if is_broken {
                let message = format!("`{flag}` of `{}` was {old}, and is {new}", self.name);
                self.keyword(
                    cx,
                    codes::BEHAVIOUR,
                    flag,
                    message,
                    "clients rely on it: keep it in this version",
                );
            }
        }
    }
}

impl<'s> Kind<'s> {
    /// What is checked in an update that was not checked before.
    fn update_checks(&self, cx: &mut Comparison<'s>) {
        const KEYWORD: &str = "updateChecks";
        let checks = |side: Named<'s>| match side.node.get(KEYWORD) {
            Some(_) => words(side.node, KEYWORD),
            None => UpdateCheck::WORDS.iter().map(|(word, _)| *word).collect(),
        };
        let (old, new) = (checks(self.old), checks(self.new));
        // `fields` is a part of `rules`.
        for check in new.difference(&old).filter(|check| **check != "fields" || !old.contains("rules")) {
            let message = format!("updates of `{}` are checked by `{check}` too", self.name);
            let help = "writes that were good may be refused: leave it out, or make a new version";
            self.keyword(cx, codes::RULE, KEYWORD, message, help);
        }
    }
}

impl<'s> Kind<'s> {
    /// Finalizers without a domain were accepted, and are refused.
    fn metadata_rules(&self, cx: &mut Comparison<'s>) {
        const KEYWORD: &str = "metadataRules";
        let is_all =
            |side: Named<'s>| side.node.get(KEYWORD).and_then(Node::text).is_none_or(|it| it == "all");
        if !is_all(self.old) && is_all(self.new) {
            let message = format!("finalizers of `{}` have to have a domain", self.name);
            let help = "writes that were good may be refused: keep the rules";
            self.keyword(cx, codes::RULE, KEYWORD, message, help);
        }
    }
}

struct Subresource<'s> {
    verbs: BTreeSet<&'s str>,
    body: Option<&'s str>,
    /// The paths of a scale.
    scale: Option<[&'s str; 3]>,
}

/// By name. `status` and `scale` have verbs of their own, others `create`.
fn subresources(resource: &Node) -> BTreeMap<&str, Subresource<'_>> {
    let listed = resource.get("subresources").map(Node::items).unwrap_or_default();
    let named = listed.iter().filter_map(|entry| {
        let name = entry.text().or_else(|| entry.get("name")?.text())?;
        let usual: &[&str] =
            if matches!(name, "status" | "scale") { &["get", "patch", "update"] } else { &["create"] };
        let verbs = match entry.get("verbs") {
            Some(_) => words(entry, "verbs"),
            None => usual.iter().copied().collect(),
        };
        let said = |key, usual| entry.get(key).and_then(Node::text).unwrap_or(usual);
        let scale = (name == "scale").then(|| {
            [
                said("replicas", ".spec.replicas"),
                said("statusReplicas", ".status.replicas"),
                said("selector", ""),
            ]
        });
        Some((name, Subresource { verbs, body: entry.get("body").and_then(Node::text), scale }))
    });
    named.collect()
}

/// A kind that is not there any more, unless it was announced for this release, and has had its time.
pub(super) fn removed(cx: &mut Comparison<'_>, name: &str, old: &Declared, resource: &Node) {
    let stages = Stages::of(resource);
    let current = cx.new.releases.current();
    let message = format!("the kind `{}` of {} is removed", old.name, old.group_version());
    let is_announced = stages.removed.is_some() && stages.removed <= current;
    let (code, help) = if is_announced {
        let Some(fault) = too_early(cx, old.stability(), &stages) else { return };
        if cx.old.has_accepted(fault.0, name) {
            return;
        }
        fault
    } else {
        let help = match stages.removed {
            None => {
                "keep it, say `lifecycle: {deprecated: ..., removed: ...}`, and remove it in that release"
                    .to_owned()
            }
            Some(release) => format!("keep it until release {release} is the last one in releases.yaml"),
        };
        (codes::KIND_REMOVED, help)
    };
    let nearest = cx.new.types.values().find(|ty| ty.group == old.group && ty.name == old.name);
    let new: &Span = nearest.map_or(&cx.new.span, |ty| &ty.span);
    let (new, old, was) = (new.clone(), old.span.clone(), "it was declared here".to_owned());
    let at = name.to_owned();
    cx.found.push(Finding { code, at, message, help, new, old, was });
}

/// Why a version cannot go in this release although its removal was announced for it. The announcement may
/// never have been judged, and the dates of its releases were not known then.
fn too_early(
    cx: &Comparison<'_>,
    stability: Stability,
    stages: &Stages<'_>,
) -> Option<(&'static str, String)> {
    let current = cx.new.releases.current()?;
    match stability {
        Stability::Alpha => None,
        Stability::Beta => {
            let since = stages.deprecated.filter(|since| cx.new.releases.is_over(BETA, *since, current));
            let told = stages.deprecated.map_or_else(String::new, |since| format!(" since {since}"));
            let help = format!("keep it until it has been deprecated{told} for {BETA}, whichever is longer");
            since.is_none().then_some((codes::REMOVED_EARLY, help))
        }
        Stability::Stable => {
            let had_it = cx.old.releases.current().or(stages.deprecated).or(stages.introduced);
            let help = "a stable version stays for all releases of a major version: keep it".to_owned();
            had_it.is_none_or(|had_it| current.major <= had_it.major).then_some((codes::STABLE_REMOVED, help))
        }
    }
}
