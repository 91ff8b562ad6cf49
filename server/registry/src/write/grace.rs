//! The grace period of a deletion.

use orch_machinery::meta::{Meta, MetaMut};
use orch_runtime::{Tree, scalar::Time};

use super::place;

/// What a DELETE does to the grace period of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grace {
    /// The kind has no grace period, or it is over.
    Unknown,
    /// It began before and this DELETE does not shorten it: nothing changes.
    Pending,
    /// It begins, or is shorter now: this many seconds, counted from the first DELETE. With 0 the object can
    /// be removed.
    Of(i64),
}

/// Begins or shortens the grace period of an object. `asked` is what the client asks for, `allowed` what the
/// kind allows, both in seconds.
pub fn begin(tree: &mut Tree, asked: Option<i64>, allowed: Option<i64>, now: Time) -> Grace {
    let Some(allowed) = allowed.map(at_least_one) else { return Grace::Unknown };
    let Some(ends) = Meta::of(tree).deletion_timestamp() else {
        place::mark_deleted(tree, now, allowed);
        return Grace::Of(allowed);
    };
    let (ends, Some(before)) = (ends.parse::<Time>(), Meta::of(tree).deletion_grace_period_seconds()) else {
        return Grace::Unknown;
    };
    if before == 0 {
        // It is over; only finalizers keep the object now.
        return Grace::Unknown;
    }
    match (asked.map(at_least_one), ends) {
        (Some(asked), Ok(ends)) if asked < before => {
            let ends =
                Time::from_unix_seconds(ends.as_unix_seconds().saturating_sub(before).saturating_add(asked));
            MetaMut::of(tree).set_deletion(ends, asked);
            Grace::Of(asked)
        }
        _ => Grace::Pending,
    }
}

/// A negative period counts as one second, as in the reference.
fn at_least_one(seconds: i64) -> i64 {
    if seconds < 0 { 1 } else { seconds }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn grace_begins_once_and_only_shrinks() {
        let now = Time::from_unix_seconds(1_000_000);
        let live = json!({"metadata": {"generation": 1}});
        let begun = |asked, allowed| {
            let mut tree = live.clone();
            let grace = begin(&mut tree, asked, allowed, now);
            (grace, tree)
        };
        assert_eq!(begun(Some(5), None), (Grace::Unknown, live.clone()));
        assert_eq!(begun(None, Some(-3)).0, Grace::Of(1));
        let (grace, tree) = begun(None, Some(40));
        assert_eq!(grace, Grace::Of(40));
        assert_eq!(tree["metadata"]["deletionTimestamp"], Time::from_unix_seconds(1_000_040).to_string());
        assert_eq!(tree["metadata"]["generation"], 2);

        let later = Time::from_unix_seconds(1_000_020);
        for (asked, allowed) in [(None, 40), (Some(40), 40), (Some(60), 60)] {
            let mut again = tree.clone();
            assert_eq!(begin(&mut again, asked, Some(allowed), later), Grace::Pending, "{asked:?}");
            assert_eq!(again, tree);
        }
        let mut shorter = tree.clone();
        assert_eq!(begin(&mut shorter, Some(10), Some(10), later), Grace::Of(10));
        assert_eq!(shorter["metadata"]["deletionTimestamp"], Time::from_unix_seconds(1_000_010).to_string());
        assert_eq!(shorter["metadata"]["deletionGracePeriodSeconds"], 10);
        assert_eq!(shorter["metadata"]["generation"], 2);
        assert_eq!(begin(&mut shorter, Some(0), Some(0), later), Grace::Of(0));
        assert_eq!(begin(&mut shorter, Some(0), Some(0), later), Grace::Unknown);
    }
}
