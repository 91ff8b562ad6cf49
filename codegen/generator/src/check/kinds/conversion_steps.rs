//! The steps of conversions: their places exist and fit, and what they cannot bring back is kept.

use std::collections::BTreeSet;

use orch_runtime::constraint;

use super::losses::{same_presence, same_shape, text};
use crate::{
    check::{value, walk},
    diagnostic::Diagnostics,
    idl::StepExtension,
    lower::Lowered,
    model::{ConversionStep, How, Model, Names, ObjectType, Resolved, Shape, Step, Target, TypeKind, Usage},
};

/// Every step leads from fields to fields of a fitting shape.
pub(in crate::check) fn steps_fit(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let model = &lowered.model;
    for written in walk::resources(lowered) {
        let Some(conversion) = &written.resource.conversion else { continue };
        let kinds = [written.resource.ty, conversion.to].map(|id| model.ty(id));
        let [TypeKind::Object(below), TypeKind::Object(above)] = [&kinds[0].kind, &kinds[1].kind] else {
            continue;
        };
        for step in &conversion.steps {
            let mut fault = |message: String, help: &str| {
                diagnostics.error(&step.span, message, help);
            };
            let mut places = [Vec::new(), Vec::new()];
            for ((object, ty, paths), found) in [
                (below, kinds[0], step.all_below().collect::<Vec<_>>()),
                (above, kinds[1], step.all_above().collect()),
            ]
            .into_iter()
            .zip(&mut places)
            {
                for path in paths {
                    match target(model, object, &path) {
                        Some(target) => found.push(target),
                        None => fault(
                            format!("`{}` has no field `{}`", ty.qualified_name, text(&path)),
                            "name a field that is there",
                        ),
                    }
                }
            }
            if places[0].len() == step.below.len()
                && places[1].len() == step.above.len()
                && let Some((message, help)) = misfit(model, step, &places[0], &places[1])
            {
                fault(message.to_owned(), help);
            }
        }
    }
}

fn target<'m>(model: &'m Model, object: &'m ObjectType, path: &Names) -> Option<Target<'m>> {
    model.target(object, &Step::of_names(path)).ok()
}

fn misfit(
    model: &Model,
    step: &ConversionStep,
    below: &[Target<'_>],
    above: &[Target<'_>],
) -> Option<(&'static str, &'static str)> {
    let are_present_alike = |(one, other): (&Target<'_>, &Target<'_>)| match (one.field, other.field) {
        (Some(one), Some(other)) => same_presence(model, one, other),
        _ => true,
    };
    let is_presence_lost = step.how == How::Move && !below.iter().zip(above).all(are_present_alike);
    let (below, above) = (usages(below), usages(above));
    let same = |one: &Usage, other: &Usage| same_shape(model, one, other, &mut BTreeSet::new());
    let is_text = |usage: &&Usage| {
        matches!(model.resolve(usage), Resolved::Enum(..) | Resolved::Scalar(Shape::String(_)))
    };
    let holds = |list: &Usage, item: &Usage| match model.resolve(list) {
        Resolved::List(of, _) => same(of, item),
        _ => false,
    };
    let fits = match &step.how {
        How::Move | How::Default(_) => below.iter().zip(&above).all(|(below, above)| same(below, above)),
        How::Wrap => holds(above[0], below[0]),
        How::Unwrap => holds(below[0], above[0]),
        How::Join(_) | How::Split(_) | How::Values(_) => below.iter().chain(&above).all(is_text),
        How::Constant(_) | How::Keep | How::Function(_) => true,
    };
    if let How::Values(pairs) = &step.how
        && fits
        && step.annotation.is_none()
        && !are_told_apart(model, pairs, below[0], above[0])
    {
        return Some(KEEPS);
    }
    if fits && is_presence_lost {
        return Some((
            "one of the fields knows no difference between absent and empty values",
            "give both the same `required` and `x-orch-omit-empty`, or use `fn`",
        ));
    }
    (!fits).then_some(match step.how {
        How::Wrap | How::Unwrap => {
            ("the list does not hold such values", "the items are of the value's type")
        }
        How::Join(_) | How::Split(_) | How::Values(_) => ("it is no text", "use `fn` for other values"),
        _ => ("the fields have different shapes", "give both the same type, or use `fn`"),
    })
}

const KEEPS: (&str, &str) =
    ("this step loses values", "add `annotation: <group>/<name>`, which keeps what cannot be brought back");

fn usages<'m>(targets: &[Target<'m>]) -> Vec<&'m Usage> {
    targets.iter().map(|target| target.usage).collect()
}

/// Whether each text comes back as itself: each that may stand here, and each that may stand there.
fn are_told_apart(model: &Model, pairs: &[(String, String)], below: &Usage, above: &Usage) -> bool {
    let (Some(below), Some(above)) = (listed(model, below), listed(model, above)) else {
        let (here, there): (BTreeSet<&String>, BTreeSet<&String>) = pairs.iter().map(|(a, b)| (a, b)).unzip();
        // A text that is not listed stays, and must not be taken for one that is.
        return here == there && here.len() == pairs.len();
    };
    let up = |text: &str| {
        pairs.iter().find(|(here, _)| here == text).map_or(text.to_owned(), |(_, to)| to.clone())
    };
    let down = |text: &str| {
        pairs.iter().find(|(_, to)| to == text).map_or(text.to_owned(), |(here, _)| here.clone())
    };
    below.iter().all(|text| down(&up(text)) == *text) && above.iter().all(|text| up(&down(text)) == *text)
}

/// The texts that may stand at a place, where they are a closed set.
fn listed(model: &Model, usage: &Usage) -> Option<Vec<String>> {
    if let Resolved::Enum(_, values) = model.resolve(usage) {
        return Some(values.iter().map(|value| value.value.clone()).collect());
    }
    let values = &model.innermost(usage).constraints.enum_values;
    (!values.is_empty()).then(|| values.clone())
}

/// What a step fills in fits its field.
pub(in crate::check) fn values_fit(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let model = &lowered.model;
    for written in walk::resources(lowered) {
        let Some(conversion) = &written.resource.conversion else { continue };
        let TypeKind::Object(above) = &model.ty(conversion.to).kind else { continue };
        let extension = written.extension.conversion.iter();
        for step in extension.flat_map(|conversion| conversion.steps.iter().flatten()) {
            let Some(value) = &step.value else { continue };
            let place = [&step.to, &step.default, &step.constant].into_iter().flatten().next();
            let place = place.and_then(|paths| Step::path(&paths.0.first()?.value));
            let Some(target) = place.and_then(|place| model.target(above, &place).ok()) else { continue };
            for fault in value::faults(model, target.usage, value) {
                let message = format!("the value does not fit its field: {}", fault.what);
                diagnostics.error(fault.span, message, "write a value that the other form may have");
            }
        }
    }
}

/// A step that cannot bring back every value names an annotation; an annotation is of the whole object.
pub(in crate::check) fn losses_are_kept(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let steps =
            written.extension.conversion.iter().flat_map(|conversion| conversion.steps.iter().flatten());
        for step in steps {
            let Some(key) = &step.annotation else {
                if loses(step) {
                    let (message, help) = KEEPS;
                    diagnostics.error(&step.span, message, help);
                }
                continue;
            };
            if !key.value.contains('/') || !constraint::qualified_name(&key.value).is_empty() {
                let help = "a group, a slash and a name: `example.com/hosts`";
                diagnostics.error(&key.span, format!("`{}` cannot name an annotation", key.value), help);
            } else if paths(step).any(|path| path.contains("[*]")) {
                let help = "keep the whole list with a step of its own, or use `fn`";
                diagnostics.error(&key.span, "an annotation keeps no values of items", help);
            }
        }
    }
}

fn loses(step: &StepExtension) -> bool {
    let always =
        [&step.default, &step.wrap, &step.unwrap, &step.join, &step.split, &step.constant, &step.keep];
    always.iter().any(|written| written.is_some())
}

fn paths(step: &StepExtension) -> impl Iterator<Item = &str> {
    let words = [
        &step.default,
        &step.wrap,
        &step.unwrap,
        &step.join,
        &step.split,
        &step.values,
        &step.constant,
        &step.keep,
        &step.moved,
        &step.from,
        &step.to,
    ];
    words.into_iter().flatten().flat_map(|paths| &paths.0).map(|path| path.value.as_str())
}
