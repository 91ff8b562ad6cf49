//! Warnings that callers can cause as often as they like: the same one is logged again only after a while.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long a problem that was logged is not logged again.
const PAUSE: Duration = Duration::from_secs(10);
/// How many problems are remembered.
const REMEMBERED: usize = 8;

/// What was logged lately.
#[derive(Debug, Default)]
pub(crate) struct Complaints(Mutex<Vec<Complaint>>);

#[derive(Debug)]
struct Complaint {
    problem: String,
    told: Instant,
    /// How often it was not logged since.
    left_out: u64,
}

impl Complaints {
    /// How often a problem was left out before this time, where it is to be logged now.
    pub(crate) fn due(&self, problem: &str, now: Instant) -> Option<u64> {
        let mut lately = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lately.iter_mut().find(|known| known.problem == problem) {
            if now.duration_since(known.told) < PAUSE {
                known.left_out += 1;
                return None;
            }
            known.told = now;
            return Some(std::mem::take(&mut known.left_out));
        }
        if lately.len() == REMEMBERED {
            lately.remove(0);
        }
        lately.push(Complaint { problem: problem.to_owned(), told: now, left_out: 0 });
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_again_after_a_while_with_how_often_it_was_left_out() {
        let (complaints, start) = (Complaints::default(), Instant::now());
        assert_eq!(complaints.due("a", start), Some(0));
        assert_eq!(complaints.due("b", start), Some(0));
        for _ in 0..5 {
            assert_eq!(complaints.due("a", start + PAUSE / 2), None);
        }
        assert_eq!(complaints.due("a", start + PAUSE), Some(5));
        assert_eq!(complaints.due("a", start + PAUSE), None);
        for number in 0..100 {
            assert_eq!(complaints.due(&number.to_string(), start), Some(0));
        }
        assert_eq!(complaints.0.lock().unwrap().len(), REMEMBERED);
    }
}
