//! Events: time, object, source and count.

use orch_runtime::{
    Tree,
    age::age_text,
    resource_def::CellContext,
    scalar::{MicroTime, Time},
};

use super::text;

/// Where the cells come from, as JSON pointers: events have two forms with different names.
struct Names {
    kind: &'static str,
    name: &'static str,
    component: &'static str,
    host: &'static str,
    reporter: &'static str,
    first: &'static str,
    last: &'static str,
    count: &'static str,
    message: &'static str,
}

/// Those of the core group.
const CORE: Names = Names {
    kind: "/involvedObject/kind",
    name: "/involvedObject/name",
    component: "/source/component",
    host: "/source/host",
    reporter: "/reportingComponent",
    first: "/firstTimestamp",
    last: "/lastTimestamp",
    count: "/count",
    message: "/message",
};

/// Those of the newer group.
const REPORTED: Names = Names {
    kind: "/regarding/kind",
    name: "/regarding/name",
    component: "/deprecatedSource/component",
    host: "/deprecatedSource/host",
    reporter: "/reportingController",
    first: "/deprecatedFirstTimestamp",
    last: "/deprecatedLastTimestamp",
    count: "/deprecatedCount",
    message: "/note",
};

/// The functions that schema files name, of both forms.
macro_rules! cells {
    ($($(#[$doc:meta])* $core:ident $reported:ident $cell:ident)+) => {
        $(
            $(#[$doc])*
            pub fn $core(tree: &Tree, context: &CellContext<'_>) -> Tree {
                CORE.$cell(tree, context)
            }

            $(#[$doc])*
            pub fn $reported(tree: &Tree, context: &CellContext<'_>) -> Tree {
                REPORTED.$cell(tree, context)
            }
        )+
    };
}

cells! {
    /// The age of the last occurrence.
    event_last_seen reported_event_last_seen last_seen
    /// The age of the first occurrence.
    event_first_seen reported_event_first_seen first_seen
    /// The object that the event is about: `pod/web`.
    event_object reported_event_object object
    /// The component that reported the event, and its instance if that is known.
    event_source reported_event_source source
    /// The message without whitespace around it.
    event_message reported_event_message message
    /// How often the event happened; 1 if there is no count.
    event_count reported_event_count count
}

impl Names {
    fn last_seen(&self, tree: &Tree, context: &CellContext<'_>) -> Tree {
        let last = match tree.get("series") {
            Some(series) if !series.is_null() => seconds(series, "/lastObservedTime"),
            _ => seconds(tree, self.last).or_else(|| self.first(tree)),
        };
        age(last, context)
    }

    fn first_seen(&self, tree: &Tree, context: &CellContext<'_>) -> Tree {
        age(self.first(tree), context)
    }

    fn object(&self, tree: &Tree, _: &CellContext<'_>) -> Tree {
        format!("{}/{}", text(tree, self.kind).to_lowercase(), text(tree, self.name)).into()
    }

    fn source(&self, tree: &Tree, _: &CellContext<'_>) -> Tree {
        let either = |old, new| match text(tree, old) {
            "" => text(tree, new),
            old => old,
        };
        let component = either(self.component, self.reporter);
        match either(self.host, "/reportingInstance") {
            "" => component.into(),
            instance => format!("{component}, {instance}").into(),
        }
    }

    fn message(&self, tree: &Tree, _: &CellContext<'_>) -> Tree {
        text(tree, self.message).trim().into()
    }

    fn count(&self, tree: &Tree, _: &CellContext<'_>) -> Tree {
        let count = |pointer| tree.pointer(pointer).and_then(Tree::as_i64).unwrap_or_default();
        match tree.get("series") {
            Some(series) if !series.is_null() => count("/series/count").into(),
            _ => count(self.count).max(1).into(),
        }
    }

    fn first(&self, tree: &Tree) -> Option<i64> {
        seconds(tree, self.first).or_else(|| seconds(tree, "/eventTime"))
    }
}

/// The time at a JSON pointer, in seconds since 1970; none if it is absent or zero.
fn seconds(tree: &Tree, pointer: &str) -> Option<i64> {
    let text = text(tree, pointer);
    let whole = text.parse::<Time>().ok().filter(|time| !time.is_zero()).map(Time::as_unix_seconds);
    whole.or_else(|| text.parse::<MicroTime>().ok().map(|time| time.as_unix_micros().div_euclid(1_000_000)))
}

fn age(seconds: Option<i64>, context: &CellContext<'_>) -> Tree {
    match seconds {
        Some(seconds) => age_text(context.now.as_unix_seconds() - seconds).into(),
        None => "<unknown>".into(),
    }
}
