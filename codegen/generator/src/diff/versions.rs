//! The versions of a kind: which of them is stored, and how they come and go.

use std::collections::BTreeMap;

use super::{
    codes,
    comparison::{Comparison, Finding, Named},
    releases::{BETA, Period, Release, backdated},
    stability::{Stability, preference},
    state::{Declared, State},
};
use crate::source::Node;

/// Beta versions that were introduced from this release on are off by default.
const BETAS_ARE_OFF: Release = Release { major: 1, minor: 22 };

/// Compares which versions are stored, and the lives of all versions.
pub(super) fn compare(cx: &mut Comparison<'_>) {
    stored(cx);
    for (name, ty, resource) in cx.new.kinds() {
        if ty.stability() == Stability::Alpha {
            continue;
        }
        let old = cx.old.ty(name).and_then(Declared::resource);
        let life =
            Life { at: name, ty, resource, now: Stages::of(resource), old, before: old.map(Stages::of) };
        life.compare(cx);
    }
}

/// The versions of a kind.
struct Stored<'s> {
    /// The one that is stored, and preferred.
    version: &'s Declared,
    /// All of them.
    all: Vec<&'s Declared>,
    /// Nothing is stored of the kind: the version is preferred only.
    is_virtual: bool,
}

/// The kinds of a state, by group and name. The version is stored that says so, or the first one of those
/// that do not say that they are not. It is also the one that clients are told to prefer.
fn storage(state: &State) -> BTreeMap<(&str, &str), Stored<'_>> {
    let flag = |ty: &Declared, key: &str| ty.resource()?.get(key)?.to_json().as_bool();
    let rank = |ty: &Declared| {
        let stated = flag(ty, "storageVersion");
        (stated != Some(true), stated == Some(false), preference(&ty.version))
    };
    let mut kinds: BTreeMap<(&str, &str), Stored<'_>> = BTreeMap::new();
    for (_, ty, resource) in state.kinds() {
        if is_another(ty, resource) {
            continue;
        }
        let is_virtual = flag(ty, "virtual") == Some(true);
        let versions = kinds.entry((&ty.group, &ty.name)).or_insert_with(|| Stored {
            version: ty,
            all: Vec::new(),
            is_virtual,
        });
        versions.all.push(ty);
        if rank(ty) < rank(versions.version) {
            versions.version = ty;
        }
    }
    kinds
}

/// Whether the objects of a kind are those of another kind, which is stored.
fn is_another(ty: &Declared, resource: &Node) -> bool {
    let target = resource.get("conversion").and_then(|conversion| conversion.get("to")?.text());
    let is_version = |target: &str| {
        let mut parts = target.rsplitn(3, '.');
        (parts.next(), parts.nth(1)) == (Some(&ty.name), Some(&ty.group))
    };
    resource.get("storedAs").is_some() || target.is_some_and(|target| !is_version(target))
}

/// A version is stored and preferred once a release has known it, and can be read as long as objects are
/// stored in it.
fn stored(cx: &mut Comparison<'_>) {
    let (old, new) = (storage(cx.old), storage(cx.new));
    for ((group, kind), before) in &old {
        let Some(now) = new.get(&(*group, *kind)) else { continue };
        let (was, is) = (before.version, now.version);
        if was.version == is.version || was.stability() == Stability::Alpha {
            continue;
        }
        let knows = |versions: &[&Declared], version: &str| versions.iter().any(|ty| ty.version == version);
        let (code, done) = if now.is_virtual {
            (codes::PREFERRED_EARLY, "preferred")
        } else {
            (codes::STORAGE_EARLY, "stored")
        };
        let mut found = |code: &'static str, message: String, help: String| {
            let at = format!("{group}.{}.{kind}", is.version);
            let (new, old, was) = (is.span.clone(), was.span.clone(), format!("{} was {done}", was.version));
            cx.found.push(Finding { code, at, message, help, new, old, was });
        };
        if !knows(&before.all, &is.version) {
            let message =
                format!("`{kind}` is {done} in {}, which the last release does not know", is.version);
            let help = format!(
                "say `storageVersion: false` in {}, ship that release, and remove it afterwards: servers of both \
                 releases work side by side during an upgrade",
                is.version
            );
            found(code, message, help);
        }
        if !now.is_virtual && !knows(&now.all, &was.version) {
            let message = format!("`{kind}` was stored in {}, which is gone", was.version);
            let help =
                format!("objects in it could not be read: keep {}, migrate, then remove it", was.version);
            found(codes::STORED_GONE, message, help);
        }
    }
}

/// `lifecycle` of a kind. Other texts than releases are errors of the schema.
pub(super) struct Stages<'s> {
    pub introduced: Option<Release>,
    pub deprecated: Option<Release>,
    pub removed: Option<Release>,
    replacement: Option<&'s str>,
}

impl<'s> Stages<'s> {
    pub fn of(resource: &'s Node) -> Self {
        let text = |key: &str| resource.get("lifecycle")?.get(key)?.text();
        let release = |key: &str| text(key).and_then(|text| text.parse().ok());
        Stages {
            introduced: release("introduced"),
            deprecated: release("deprecated"),
            removed: release("removed"),
            replacement: text("replacement"),
        }
    }
}

struct Life<'s> {
    at: &'s str,
    ty: &'s Declared,
    resource: &'s Node,
    now: Stages<'s>,
    /// The extension of the old state, where it had the kind.
    old: Option<&'s Node>,
    before: Option<Stages<'s>>,
}

impl<'s> Life<'s> {
    fn compare(&self, cx: &mut Comparison<'s>) {
        self.overdue(cx);
        let lifecycle = |resource: &Node| resource.get("lifecycle").map(Node::to_json);
        // What was said before has been judged before.
        if self.old.map(lifecycle) == Some(lifecycle(self.resource)) {
            return;
        }
        self.replacement(cx);
        self.removal(cx);
        self.history(cx);
    }

    fn found(&self, cx: &mut Comparison<'s>, code: &'static str, key: &str, message: String, help: &str) {
        let new = self.resource.get("lifecycle").unwrap_or(self.resource);
        let old = self.old.map_or(new, |old| old.get("lifecycle").unwrap_or(old));
        let sides = (Named { node: old, span: &old.span }, Named { node: new, span: &new.span });
        cx.keyword(code, self.at, key, sides, (message, help));
    }

    fn replacement(&self, cx: &mut Comparison<'s>) {
        let Some(replacement) = self.now.replacement else { return };
        let group_version = replacement.split(' ').next().unwrap_or_default();
        let version = group_version.rsplit('/').next().unwrap_or_default();
        let (own, other) = (self.ty.stability(), Stability::of(version));
        if crate::load::is_version(version) && other < own {
            let message =
                format!("{} is {}, and its replacement is {}", self.name(), own.word(), other.word());
            let help = "deprecate a version when there is one that is at least as stable";
            self.found(cx, codes::LESS_STABLE, "replacement", message, help);
        }
    }

    fn removal(&self, cx: &mut Comparison<'s>) {
        let Some(removed) = self.now.removed else { return };
        let releases = &cx.new.releases;
        match (self.ty.stability(), self.now.deprecated) {
            (Stability::Stable, _) => {
                let since = releases.current().or(self.now.deprecated).or(self.now.introduced);
                if since.is_some_and(|since| removed.major <= since.major) {
                    let message = format!("{} is removed in {removed}", self.name());
                    let help = "a stable version stays for all releases of a major version: remove `removed`";
                    self.found(cx, codes::STABLE_REMOVED, "removed", message, help);
                }
            }
            (Stability::Beta, Some(deprecated)) if !releases.is_over(BETA, deprecated, removed) => {
                let message =
                    format!("{} is deprecated in {deprecated} and removed in {removed}", self.name());
                let help = format!("between the two are {BETA}, whichever is longer: choose a later release");
                self.found(cx, codes::REMOVED_EARLY, "removed", message, &help);
            }
            _ => {}
        }
    }

    /// What was announced stays, and nothing is announced for the past.
    fn history(&self, cx: &mut Comparison<'s>) {
        let Some(before) = &self.before else { return };
        let is_served = |stages: &Stages<'_>| {
            self.ty.stability() == Stability::Stable
                || stages.introduced.is_some_and(|introduced| introduced < BETAS_ARE_OFF)
        };
        if is_served(before) && !is_served(&self.now) {
            let message = format!("{} was served by default, and is not any more", self.name());
            let help =
                "beta versions from before release 1.22 are on by default: leave `introduced` as it was";
            self.found(cx, codes::NOT_SERVED, "introduced", message, help);
        }
        if let (Some(was), Some(is)) = (before.removed, self.now.removed)
            && is < was
        {
            let message = format!("{} was to be removed in {was}, and now in {is}", self.name());
            self.found(cx, codes::HISTORY, "removed", message, "clients were told the later one: keep it");
        }
        if let Some((deprecated, current)) =
            backdated(before.deprecated, self.now.deprecated, cx.new.releases.current())
        {
            let message = format!("{} is said to be deprecated since {deprecated}, and was not", self.name());
            let help = format!("nobody was warned before this release: write \"{current}\" or a later one");
            self.found(cx, codes::HISTORY, "deprecated", message, &help);
        }
    }

    /// A beta version is deprecated, or succeeded, in time. Time passes without a change of the files, so it
    /// is judged each time, unless the lock has it as accepted.
    fn overdue(&self, cx: &mut Comparison<'s>) {
        if self.ty.stability() != Stability::Beta || cx.old.has_accepted(codes::OVERDUE, self.at) {
            return;
        }
        let end = self.now.deprecated.or(cx.new.releases.current());
        let (Some(introduced), Some(end)) = (self.now.introduced, end) else { return };
        let one_more = Period { releases: BETA.releases + 1, ..BETA };
        if cx.new.releases.is_over(one_more, introduced, end) {
            let message = format!("{} is a beta version since {introduced}", self.name());
            let help = format!("deprecate it {BETA} after it was introduced, in favour of a stable version");
            self.found(cx, codes::OVERDUE, "introduced", message, &help);
        }
    }

    fn name(&self) -> String {
        format!("`{}` of {}", self.ty.name, self.ty.group_version())
    }
}
