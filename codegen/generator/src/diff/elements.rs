//! Flags, gates, metrics, annotations, configurations and behaviours: none goes before its time, and none
//! goes back.

use super::{
    codes,
    comparison::{Comparison, Finding},
    releases::{Period, Release, backdated},
    stability::Stability,
    surface::{CLASSES, Class, Element},
};

/// Finds what went too early, and what went back to an earlier stage.
pub(super) fn compare(cx: &mut Comparison<'_>) {
    for ((key, name), old) in &cx.old.surface.elements {
        let Some(class) = CLASSES.iter().find(|class| class.key == *key) else { continue };
        let at = format!("{key}.{name}");
        let finding = match cx.new.surface.elements.get(&(*key, name.clone())) {
            Some(new) if new.stage < old.stage => {
                let (was, is) = (old.stage.word(), new.stage.word());
                let message = format!("the {} `{name}` was {was}, and is {is}", class.noun);
                let help = "a stage is a promise: leave it, and deprecate the element".to_owned();
                (codes::STAGE, message, help, &new.span)
            }
            Some(new) => {
                let current = cx.new.releases.current();
                let Some((since, current)) = backdated(old.deprecated, new.deprecated, current) else {
                    continue;
                };
                let message = format!(
                    "the {} `{name}` is said to be deprecated since {since}, and was not",
                    class.noun
                );
                let help =
                    format!("nobody was warned before this release: write \"{current}\" or a later one");
                (codes::BACKDATED, message, help, &new.span)
            }
            None => match missing(cx, class, old) {
                None => continue,
                Some(help) => {
                    let message = format!("the {} `{name}` is removed", class.noun);
                    (codes::ELEMENT_REMOVED, message, help, &cx.new.span)
                }
            },
        };
        let (code, message, help, new) = finding;
        let (new, old, was) = (new.clone(), old.span.clone(), "it was promised here".to_owned());
        cx.found.push(Finding { code, at, message, help, new, old, was });
    }
}

/// What is missing before an element can go; none where it can.
fn missing(cx: &Comparison<'_>, class: &Class, old: &Element) -> Option<String> {
    let (stays, lives) = match old.stage {
        Stability::Alpha => return None,
        Stability::Beta => (Some(class.beta), class.lifetime.map(|(beta, _)| beta)),
        Stability::Stable => (class.stable, class.lifetime.map(|(_, stable)| stable)),
    };
    let is_over = |period: Period, from: Option<Release>| {
        let (from, now) = from.zip(cx.new.releases.current())?;
        cx.new.releases.is_over(period, from, now).then_some(())
    };
    let Some(stays) = stays else {
        let is_new_major = old.deprecated.zip(cx.new.releases.current());
        let is_new_major = is_new_major.is_some_and(|(since, now)| now.major > since.major);
        let help =
            "a stable one stays for all releases of a major version, and is deprecated before the next";
        return (!is_new_major).then(|| help.to_owned());
    };
    if is_over(stays, old.deprecated).is_none() {
        return Some(match old.deprecated {
            None => format!("deprecate it first: say `deprecated`, and keep it for {stays}"),
            Some(since) => {
                format!("it is deprecated since {since}: keep it for {stays}, whichever is longer")
            }
        });
    }
    let lives = lives.filter(|lives| is_over(*lives, old.introduced).is_none())?;
    Some(format!("it lives for {lives}, whichever is longer: say in which release it was `introduced`"))
}
