//! Owners of fields find the same fields in the other form, and back, where an object is owned as a whole.

use std::collections::BTreeSet;

use super::{
    conversion_places::parts,
    losses::{are_owned_alike, text},
};
use crate::{
    check::walk::{self, WrittenResource},
    diagnostic::Diagnostics,
    lower::Lowered,
    model::{Conversion, ConversionStep, Field, How, Model, Names, ObjectType, Step, TypeKind, Usage},
};

/// Whoever owns a part of what is owned as a whole owns all of it. So what is owned by its parts stays
/// outside, and owners that go to the other form and come back do not get more with each way.
pub(in crate::check) fn owners_are_kept(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let model = &lowered.model;
    for written in walk::resources(lowered) {
        let Some(conversion) = &written.resource.conversion else { continue };
        let kinds = [written.resource.ty, conversion.to].map(|id| &model.ty(id).kind);
        let [TypeKind::Object(below), TypeKind::Object(above)] = kinds else { continue };
        let forms = Forms { model, objects: [below, above] };
        for (step, below, above) in parts(conversion) {
            if let Some((whole, parts)) = forms.parts_in_whole(step, &below, &above) {
                let message = format!(
                    "`{}` is owned as a whole, and `{}` by its parts: {}",
                    text(&whole),
                    text(&parts),
                    places(model, &written, conversion)
                );
                diagnostics.error(&step.span, message, PARTS_HELP);
            }
        }
        if let Some((step, one, other)) = forms.grows(&written, conversion) {
            let message = format!(
                "who owns `{}` would own `{}` too on the way back: {}",
                text(&one),
                text(&other),
                places(model, &written, conversion)
            );
            diagnostics.error(&step.span, message, GROWS_HELP);
        }
    }
}

const PARTS_HELP: &str =
    "give both the same `x-orch-map-type`, or write a step for each part that is a single value";
const GROWS_HELP: &str = "an object of `x-orch-map-type: atomic` has one owner, its parts have others in the \
                          other form: move all that is in it to one place, or remove `atomic`";

/// The two types, for a message about both.
fn places(model: &Model, written: &WrittenResource<'_>, conversion: &Conversion) -> String {
    let [one, other] = [written.resource.ty, conversion.to].map(|id| &model.ty(id).qualified_name);
    format!("in `{one}` and `{other}`")
}

struct Forms<'m> {
    model: &'m Model,
    /// Those of the lower and the upper form.
    objects: [&'m ObjectType; 2],
}

impl<'m> Forms<'m> {
    fn target(&self, form: usize, place: &Names) -> Option<(&'m Usage, Option<&'m Field>)> {
        let target = self.model.target(self.objects[form], &Step::of_names(place)).ok()?;
        Some((target.usage, target.field))
    }

    /// What owners own at a place: all that is around it, or the place alone.
    fn unit(&self, form: usize, place: &Names) -> Names {
        self.model.whole(self.objects[form], place).unwrap_or_else(|| place.clone())
    }

    /// A whole, and what is owned by its parts in the other form, where a step that leaves values as they are
    /// leads from one to the other.
    fn parts_in_whole(
        &self,
        step: &ConversionStep,
        below: &[Names],
        above: &[Names],
    ) -> Option<(Names, Names)> {
        if !matches!(step.how, How::Move | How::Default(_)) {
            return None;
        }
        below.iter().zip(above).find_map(|(below, above)| {
            let (one, other) = (self.target(0, below)?, self.target(1, above)?);
            let is_whole = [one, other].map(|(usage, field)| self.model.is_whole(usage, field));
            let units = [self.unit(0, below), self.unit(1, above)];
            let is_inside = [units[0] != *below, units[1] != *above];
            match (is_inside, is_whole) {
                ([true, false], [_, false]) => Some((units[0].clone(), above.clone())),
                ([false, true], [false, _]) => Some((units[1].clone(), below.clone())),
                ([false, false], [true, false]) if !are_owned_alike(self.model, one, other) => {
                    Some((below.clone(), above.clone()))
                }
                ([false, false], [false, true]) if !are_owned_alike(self.model, one, other) => {
                    Some((above.clone(), below.clone()))
                }
                _ => None,
            }
        })
    }

    /// A step after which an owner has more than before, when its fields went to the other form and came
    /// back, and went there again.
    fn grows<'c>(
        &self,
        written: &WrittenResource<'_>,
        conversion: &'c Conversion,
    ) -> Option<(&'c ConversionStep, Names, Names)> {
        let mut links: BTreeSet<(Names, Names)> = BTreeSet::new();
        for (_, below, above) in moving(conversion) {
            for (below, above) in below.iter().flat_map(|below| above.iter().map(move |above| (below, above)))
            {
                links.insert((self.unit(0, below), self.unit(1, above)));
            }
        }
        let [below, above] = self.model.wholes(self.model.ty(written.resource.ty), conversion);
        links.extend(below.into_iter().filter(|whole| above.contains(whole)).map(|it| (it.clone(), it)));
        let (one, other) = links.iter().find_map(|(below, above)| {
            let beside = links.iter().filter(|(_, other)| other == above).map(|(other, _)| other);
            let own = there(&links, below);
            let more = beside.flat_map(|other| there(&links, other)).find(|unit| !own.contains(unit))?;
            Some((below.clone(), more.clone()))
        })?;
        let touches = |(step, below, _): &(&'c ConversionStep, Vec<Names>, Vec<Names>)| {
            below.iter().any(|place| self.unit(0, place) == one).then_some(*step)
        };
        let step = moving(conversion).iter().find_map(touches).or(conversion.steps.first())?;
        Some((step, one, other))
    }
}

/// What owners of this own in the upper form.
fn there<'l>(links: &'l BTreeSet<(Names, Names)>, unit: &Names) -> BTreeSet<&'l Names> {
    links.iter().filter(|(below, _)| below == unit).map(|(_, above)| above).collect()
}

fn moving(conversion: &Conversion) -> Vec<(&ConversionStep, Vec<Names>, Vec<Names>)> {
    let mut moving = parts(conversion);
    moving.retain(|(step, ..)| !matches!(step.how, How::Keep | How::Constant(_)));
    moving
}
