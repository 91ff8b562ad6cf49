//! How the objects of a version become those of another one. Objects are stored by these steps, and clients
//! of both versions have seen what the steps make of them: so they stay.

use super::{
    codes,
    comparison::{Comparison, Named, shown},
};
use crate::source::Node;

const KEYWORD: &str = "conversion";

/// Compares `conversion` of a kind. While it leads to the same version, steps may be added, for new fields,
/// and change their order. Where it leads to another version, what annotations keep is still read.
pub(super) fn compare<'s>(cx: &mut Comparison<'s>, at: &str, kind: &str, sides: (Named<'s>, Named<'s>)) {
    let [old, new] = [sides.0, sides.1].map(|side| side.node.get(KEYWORD));
    let Some(old) = old else { return };
    let target = |conversion: &Node| conversion.get("to").and_then(Node::text).map(str::to_owned);
    let steps = |conversion: &'s Node| conversion.get("steps").map(Node::items).unwrap_or_default();
    let now = new.map(steps).unwrap_or_default();
    let is_same_target = new.and_then(target) == target(old);
    for step in steps(old) {
        let message = if is_same_target {
            if now.iter().any(|now| does_the_same(step, now)) {
                continue;
            }
            format!("objects of `{kind}` are converted otherwise: {} is gone or changed", shown(step))
        } else {
            let Some(key) = annotation(step) else { continue };
            if now.iter().any(|now| annotation(now) == Some(key)) {
                continue;
            }
            format!("objects of `{kind}` keep values in the annotation `{key}`, which is not read any more")
        };
        let help = "objects mean something else to clients of one of the versions: keep the step";
        cx.keyword(codes::CONVERSION, at, KEYWORD, sides, (message, help));
    }
}

fn annotation(step: &Node) -> Option<&str> {
    step.get("annotation").and_then(Node::text)
}

/// Whether a step does what another one did. Texts may be added to `map`: nobody could write them before.
fn does_the_same(old: &Node, new: &Node) -> bool {
    let [mut before, mut now] = [old, new].map(Node::to_json);
    let texts = |step: &mut serde_json::Value| step.as_object_mut().and_then(|step| step.remove("map"));
    let (was, is) = (texts(&mut before), texts(&mut now));
    let pairs = was.as_ref().and_then(serde_json::Value::as_object);
    before == now
        && pairs.is_none_or(|pairs| {
            pairs.iter().all(|(from, to)| is.as_ref().is_some_and(|is| is.get(from) == Some(to)))
        })
}
