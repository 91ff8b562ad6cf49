//! How long a pod that has failed stays before another one takes its place. Pods that fail at once on a node
//! are replaced ever more slowly there; on other nodes nothing changes.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::time::Instant;

/// After the first failure.
const SHORTEST: Duration = Duration::from_secs(1);
/// It never takes longer than this.
const LONGEST: Duration = Duration::from_mins(15);
/// After such a time without failures the next one counts as the first.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(30);

/// The failures on the nodes of one set.
#[derive(Debug, Default)]
pub(super) struct Backoff(HashMap<Arc<str>, Failures>);

#[derive(Debug)]
struct Failures {
    delay: Duration,
    last: Instant,
}

impl Backoff {
    /// A pod has failed on a node. `None` where it is to be replaced now, which is remembered; or in how many
    /// seconds.
    pub(super) fn wait(&mut self, node: &str, now: Instant) -> Option<u64> {
        self.0.retain(|_, failures| now - failures.last < FORGOTTEN_AFTER);
        let Some(failures) = self.0.get_mut(node) else {
            self.0.insert(node.into(), Failures { delay: SHORTEST, last: now });
            return None;
        };
        let passed = now - failures.last;
        let left = failures.delay.saturating_sub(passed);
        if !left.is_zero() {
            return Some(left.as_secs_f64().ceil() as u64);
        }
        *failures = Failures { delay: (failures.delay * 2).min(LONGEST), last: now };
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_on_which_pods_fail_gets_new_ones_ever_more_slowly() {
        let (mut backoff, mut now) = (Backoff::default(), Instant::now());
        assert_eq!(backoff.wait("a", now), None);
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
            assert_eq!(backoff.wait("a", now), Some(expected));
            now += Duration::from_millis(expected * 1000 - 1);
            assert_eq!(backoff.wait("a", now), Some(1));
            now += Duration::from_millis(1);
            assert_eq!(backoff.wait("a", now), None);
        }
        assert_eq!(backoff.wait("b", now), None, "another node");
        now += FORGOTTEN_AFTER;
        assert_eq!(backoff.wait("a", now), None);
        assert_eq!(backoff.wait("a", now), Some(1), "earlier failures are forgotten");
    }
}
