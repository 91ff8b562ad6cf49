//! `conversion` of a kind to steps between places, and which version of a kind is stored.

use std::collections::BTreeMap;

use super::Lowering;
use crate::{
    diagnostic::Span,
    idl::{ConversionExtension, Paths, Schema, StepExtension},
    model::{
        Conversion, ConversionStep, EACH, How, Model, Names, ObjectType, Resolved, Resource, Step, TypeId,
        TypeKind,
    },
    source::Spanned,
};

impl Lowering<'_, '_> {
    /// A conversion; steps that are wrong in themselves are reported and left out.
    pub(super) fn conversion(&mut self, written: &ConversionExtension) -> Option<Conversion> {
        let steps = written.steps.iter().flatten().filter_map(|step| self.conversion_step(step)).collect();
        Some(Conversion { to: self.qualified_reference(&written.to)?, steps, span: written.span.clone() })
    }

    fn conversion_step(&mut self, written: &StepExtension) -> Option<ConversionStep> {
        let (word, here) = self.word(written)?;
        let how = self.how(written, word)?;
        let wants_many = |word: &str| word == "join" || word == "fn";
        let here = self.places(here, wants_many(word), &written.span)?;
        let there = match &written.to {
            Some(to) => self.places(&to.0, word == "split" || word == "fn", &written.span)?,
            None if matches!(word, "default" | "values" | "constant" | "keep") => here.clone(),
            None => {
                let help = "add `to:` and a path";
                self.diagnostics.error(&written.span, format!("`{word}` has no `to`"), help).code("E0215");
                return None;
            }
        };
        let (below, above) = match word {
            "constant" => (Vec::new(), there),
            // `settle` finds out which of the kinds has the field.
            "keep" => (here, Vec::new()),
            _ => (here, there),
        };
        let at = self.common(below.iter().chain(&above), &written.span)?;
        let rest = |places: Vec<Names>| -> Vec<Names> {
            places.into_iter().map(|place| place[at.len()..].to_vec()).collect()
        };
        Some(ConversionStep {
            below: rest(below),
            above: rest(above),
            at,
            how,
            annotation: written.annotation.as_ref().map(|key| key.value.clone()),
            span: written.span.clone(),
        })
    }

    /// The word of a step, and the paths beside it.
    fn word<'w>(&mut self, written: &'w StepExtension) -> Option<(&'static str, &'w [Spanned<String>])> {
        let words = [
            ("move", written.moved.as_ref()),
            ("default", written.default.as_ref()),
            ("wrap", written.wrap.as_ref()),
            ("unwrap", written.unwrap.as_ref()),
            ("join", written.join.as_ref()),
            ("split", written.split.as_ref()),
            ("values", written.values.as_ref()),
            ("constant", written.constant.as_ref()),
            ("keep", written.keep.as_ref()),
            ("fn", written.function.as_ref().and(written.from.as_ref())),
        ];
        let paths = |paths: &'w Paths| paths.0.as_slice();
        let given: Vec<_> = words.into_iter().filter_map(|(word, path)| Some((word, paths(path?)))).collect();
        if let [only] = given[..] {
            return Some(only);
        }
        let help = "write one of `move`, `default`, `wrap`, `unwrap`, `join`, `split`, `values`, `constant`, \
                    `keep`, and `fn` with `from`";
        self.diagnostics.error(&written.span, "a step does one thing", help).code("E0215");
        None
    }

    fn how(&mut self, written: &StepExtension, word: &str) -> Option<How> {
        let missing = |key: &str| (format!("`{word}` has no `{key}`"), format!("add `{key}:`"));
        let how = match word {
            "move" => Ok(How::Move),
            "wrap" => Ok(How::Wrap),
            "unwrap" => Ok(How::Unwrap),
            "keep" => Ok(How::Keep),
            "default" => written.value.as_ref().map(|it| How::Default(it.to_json())).ok_or("value"),
            "constant" => written.value.as_ref().map(|it| How::Constant(it.to_json())).ok_or("value"),
            "join" => written.with.as_ref().map(|it| How::Join(it.value.clone())).ok_or("with"),
            "split" => written.with.as_ref().map(|it| How::Split(it.value.clone())).ok_or("with"),
            "values" => {
                let pairs = written.map.as_ref().map(|map| {
                    map.0.iter().map(|(here, there)| (here.value.clone(), there.value.clone())).collect()
                });
                pairs.map(How::Values).ok_or("map")
            }
            _ => written.function.as_ref().map(|it| How::Function(it.value.clone())).ok_or("fn"),
        };
        how.map_err(|key| {
            let (message, help) = missing(key);
            self.diagnostics.error(&written.span, message, help).code("E0215");
        })
        .ok()
    }

    fn places(&mut self, paths: &[Spanned<String>], may_be_many: bool, span: &Span) -> Option<Vec<Names>> {
        if paths.is_empty() || (paths.len() > 1 && !may_be_many) {
            self.diagnostics.error(span, "it takes one path", "write a step for each path").code("E0215");
            return None;
        }
        let places: Vec<Names> = paths.iter().filter_map(|path| self.names_of(path)).collect();
        (places.len() == paths.len()).then_some(places)
    }

    fn names_of(&mut self, path: &Spanned<String>) -> Option<Names> {
        let steps = Step::path(&path.value).filter(|steps| matches!(steps.last(), Some(Step::Field(_))));
        let names = steps.and_then(|steps| {
            let name = |step| match step {
                Step::Field(name) => Some(name),
                Step::Each => Some(EACH.to_owned()),
                Step::Key(_) | Step::Up => None,
            };
            steps.into_iter().map(name).collect::<Option<Names>>()
        });
        if names.is_none() {
            let help =
                "a path is a dot and a field, repeated, with `[*]` for each item: `.spec.ports[*].name`";
            let message = format!("`{}` is not a path to a field", path.value);
            self.diagnostics.error(&path.span, message, help).code("E0211");
        }
        names
    }

    /// Where the items are that all places are in; the root where they are in no list.
    fn common<'p>(&mut self, places: impl Iterator<Item = &'p Names>, span: &Span) -> Option<Names> {
        let items = |place: &Names| -> Names {
            let end = place.iter().rposition(|name| name == EACH).map_or(0, |last| last + 1);
            place[..end].to_vec()
        };
        let mut all: Vec<Names> = places.map(items).collect();
        all.dedup();
        if let [at] = &all[..] {
            return Some(at.clone());
        }
        let help = "both paths of a step go through the same lists; use `fn` for what moves between lists";
        self.diagnostics.error(span, "a value leaves its list", help).code("E0215");
        None
    }
}

/// Which kinds are stored, which kind has a field that only one has, and where defaults are filled in.
pub(super) fn settle(model: &mut Model, written: &[&Schema]) {
    /// Its type, its `storageVersion`, and whether it is stored as another kind.
    type Version = (TypeId, Option<bool>, bool);
    settle_places(model);
    let mut versions: BTreeMap<(String, String), Vec<Version>> = BTreeMap::new();
    for group_version in &model.group_versions {
        for resource in &group_version.resources {
            let extension = written[resource.ty.0].resource.as_ref();
            let stated = extension.and_then(|it| it.storage_version.as_ref()).map(|stated| stated.value);
            let key = (group_version.group.clone(), resource.kind.clone());
            versions.entry(key).or_default().push((resource.ty, stated, leaves_its_kind(model, resource)));
        }
    }
    let mut stored: Vec<TypeId> = Vec::new();
    for members in versions.into_values() {
        if members.iter().any(|(_, _, leaves)| *leaves) {
            continue;
        }
        if members.iter().any(|(_, stated, _)| *stated == Some(true)) {
            stored.extend(members.iter().filter(|(_, stated, _)| *stated == Some(true)).map(|(id, ..)| *id));
            continue;
        }
        let may_be = members.iter().filter(|(_, stated, _)| stated.is_none()).map(|(id, ..)| *id);
        stored.extend(may_be.max_by_key(|id| priority(&model.ty(*id).version)));
    }
    for resource in model.group_versions.iter_mut().flat_map(|group_version| &mut group_version.resources) {
        resource.storage_version = stored.contains(&resource.ty);
    }
}

/// Whether the kind is converted to one of another name or group, which is the one that is stored.
fn leaves_its_kind(model: &Model, resource: &Resource) -> bool {
    let own = model.ty(resource.ty);
    resource.conversion.as_ref().is_some_and(|conversion| {
        let other = model.ty(conversion.to);
        (&own.group, &own.name) != (&other.group, &other.name)
    })
}

/// Versions in the order of preference: stable, beta, alpha, and the newest last.
pub fn priority(version: &str) -> (u8, u32, u32) {
    let stem = version.strip_prefix('v').unwrap_or(version);
    let number = |text: &str| text.parse().unwrap_or(0);
    let parts = [(1, "beta"), (0, "alpha")];
    let found = parts.iter().find_map(|(rank, word)| Some((*rank, stem.split_once(word)?)));
    found.map_or((2, number(stem), 0), |(rank, (major, minor))| (rank, number(major), number(minor)))
}

fn settle_places(model: &mut Model) {
    let mut changes: Vec<(TypeId, Vec<ConversionStep>)> = Vec::new();
    for resource in model.group_versions.iter_mut().flat_map(|group_version| &mut group_version.resources) {
        if let Some(conversion) = &mut resource.conversion {
            changes.push((resource.ty, std::mem::take(&mut conversion.steps)));
        }
    }
    for (id, steps) in &mut changes {
        let TypeKind::Object(object) = &model.ty(*id).kind else { continue };
        for step in steps.iter_mut() {
            settle_step(model, object, step);
        }
        let mut merged: Vec<ConversionStep> = Vec::new();
        // What moves in one object moves at once, so that two fields can change places.
        for step in std::mem::take(steps) {
            let is_move = step.how == How::Move;
            match merged.iter_mut().find(|other| is_move && other.how == How::Move && other.at == step.at) {
                Some(other) => {
                    other.below.extend(step.below);
                    other.above.extend(step.above);
                }
                None => merged.push(step),
            }
        }
        merged.sort_by_key(|step| std::cmp::Reverse(step.at.len()));
        *steps = merged;
    }
    for resource in model.group_versions.iter_mut().flat_map(|group_version| &mut group_version.resources) {
        if let Some(conversion) = &mut resource.conversion
            && let Some(at) = changes.iter().position(|(id, _)| *id == resource.ty)
        {
            conversion.steps = std::mem::take(&mut changes[at].1);
        }
    }
}

fn settle_step(model: &Model, object: &ObjectType, step: &mut ConversionStep) {
    if step.how == How::Keep && model.place(object, &[&step.at[..], &step.below[0]].concat()).is_none() {
        step.above = std::mem::take(&mut step.below);
    }
    if let How::Default(_) | How::Constant(_) = step.how
        && let [place] = &step.above[..]
        && let Some((name, parents)) = place.split_last()
    {
        // Nothing is filled in where there is no object for it.
        let at = [&step.at[..], parents].concat();
        let is_object = |place| matches!(model.place(object, place), Some(Resolved::Object(..)));
        if !parents.is_empty() && is_object(&at) {
            let name = vec![name.clone()];
            if !step.below.is_empty() {
                step.below = vec![name.clone()];
            }
            step.above = vec![name];
            step.at = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::priority;

    #[test]
    fn stable_versions_come_before_others() {
        let mut versions = ["v1alpha1", "v2beta1", "v1", "v1beta2", "v2", "v1beta1"];
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        assert_eq!(versions, ["v2", "v1", "v2beta1", "v1beta2", "v1beta1", "v1alpha1"]);
    }
}
