//! The steps of a conversion do not disturb each other: a field has one step, and an annotation keeps the
//! values of one.

use std::collections::BTreeSet;

use super::{conversions::way, losses::text};
use crate::{
    check::walk,
    diagnostic::Diagnostics,
    lower::Lowered,
    model::{Conversion, ConversionStep, How, Names},
};

/// Every field of either form has one step at most, and so has what is in it. What only one form has does not
/// have the name of a field that the other one has elsewhere: owners are known by names.
pub(in crate::check) fn places_are_apart(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let Some(conversion) = &written.resource.conversion else { continue };
        let mut seen: [BTreeSet<Names>; 2] = Default::default();
        for step in &conversion.steps {
            let sides: [Vec<Names>; 2] = [step.all_below().collect(), step.all_above().collect()];
            let overlap = sides.iter().zip(&mut seen).find_map(|(places, seen)| added(places, seen));
            if let Some((place, other)) = overlap {
                let message = if place == other {
                    format!("`{}` has another step", text(&place))
                } else {
                    format!("`{}` and `{}` have each a step", text(&other), text(&place))
                };
                diagnostics.error(&step.span, message, "one value would be lost: write one step for a field");
            }
        }
        let all = parts(conversion);
        for (number, (step, below, above)) in all.iter().enumerate() {
            let is_alone = matches!(step.how, How::Keep | How::Constant(_));
            let others = all.iter().enumerate().filter(|(other, _)| *other != number);
            let (other_below, other_above): (Vec<_>, Vec<_>) =
                others.map(|(_, (_, below, above))| (below.clone(), above.clone())).unzip();
            let overlap = misnamed(below, is_alone, &other_above.concat())
                .or_else(|| misnamed(above, is_alone, &other_below.concat()));
            if let Some(place) = overlap {
                let message = format!("`{}` is another field in the other form", text(&place));
                let help =
                    "its owners would be taken for those of the other one: give it another name, or use `fn`";
                diagnostics.error(&step.span, message, help);
            }
        }
    }
}

/// Each step with its places below and above. What moves at once is several parts.
pub(super) fn parts(conversion: &Conversion) -> Vec<(&ConversionStep, Vec<Names>, Vec<Names>)> {
    let mut parts = Vec::new();
    for step in &conversion.steps {
        if step.how == How::Move {
            let pairs = step.all_below().zip(step.all_above());
            parts.extend(pairs.map(|(below, above)| (step, vec![below], vec![above])));
        } else {
            parts.push((step, step.all_below().collect(), step.all_above().collect()));
        }
    }
    parts
}

/// Adds places to those that are known. Returns the first that was known, or is in one that was, or holds
/// one, with that one.
fn added(places: &[Names], seen: &mut BTreeSet<Names>) -> Option<(Names, Names)> {
    let mut found = None;
    for place in places {
        let other = seen.iter().find(|other| is_same_or_inside(place, other));
        found = found.or_else(|| other.map(|other| (place.clone(), other.clone())));
        seen.insert(place.clone());
    }
    found
}

/// An object around one of these places that has the name of one of the others; for a field that is alone,
/// its place itself. What is left at such a name, and its owners, would be taken for those of the other.
fn misnamed(own: &[Names], is_alone: bool, others: &[Names]) -> Option<Names> {
    own.iter().find_map(|place| {
        let around = (1..place.len()).map(|length| place[..length].to_vec());
        let mut around = around.filter(|holder| others.contains(holder));
        let is_other = || is_alone && others.iter().any(|other| is_same_or_inside(place, other));
        around.next().or_else(|| is_other().then(|| place.clone()))
    })
}

/// Whether one of two places is the other one, or in it.
fn is_same_or_inside(one: &Names, other: &Names) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// An annotation belongs to one step of all on the way to another form.
pub(in crate::check) fn annotations_are_apart(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let all = walk::resources(lowered);
    for written in &all {
        let Some(extension) = &written.extension.conversion else { continue };
        let further = way(written.resource.ty, &all).into_iter().skip(1).flat_map(|ty| {
            let resource = all.iter().find(|other| other.resource.ty == ty);
            resource.and_then(|other| other.resource.conversion.as_ref()).into_iter().flat_map(keys)
        });
        let mut seen: BTreeSet<&str> = further.collect();
        for key in extension.steps.iter().flatten().filter_map(|step| step.annotation.as_ref()) {
            if !seen.insert(&key.value) {
                let message = format!("`{}` keeps the values of another step", key.value);
                diagnostics.error(&key.span, message, "choose another name, with the version in it");
            }
        }
    }
}

fn keys(conversion: &Conversion) -> impl Iterator<Item = &str> {
    conversion.steps.iter().filter_map(|step| step.annotation.as_deref())
}
