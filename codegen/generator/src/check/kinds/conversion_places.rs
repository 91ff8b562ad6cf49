//! The steps of a conversion do not disturb each other: a field has one step, and an annotation keeps the
//! values of one.

use std::collections::BTreeSet;

use super::{conversions::way, losses::text};
use crate::{
    check::walk,
    diagnostic::Diagnostics,
    lower::Lowered,
    model::{Conversion, Names},
};

/// Every field of either form has one step at most.
pub(in crate::check) fn places_are_apart(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let Some(conversion) = &written.resource.conversion else { continue };
        let mut seen: [BTreeSet<Names>; 2] = Default::default();
        for step in &conversion.steps {
            let sides: [Vec<Names>; 2] = [step.all_below().collect(), step.all_above().collect()];
            let mut twice: Vec<Names> = Vec::new();
            for (places, seen) in sides.into_iter().zip(&mut seen) {
                twice.extend(places.into_iter().filter(|place| !seen.insert(place.clone())));
            }
            if let Some(place) = twice.first() {
                let message = format!("`{}` has another step", text(place));
                diagnostics.error(&step.span, message, "one value would be lost: write one step for a field");
            }
        }
    }
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
