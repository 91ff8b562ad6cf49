//! The value of `Retry-After` for refused requests, in seconds. It doubles while many are refused, and falls
//! by one while few are.

use std::collections::VecDeque;

/// The longest time.
const LONGEST: u64 = 32;

/// Counts the refusals of a level.
#[derive(Debug)]
pub struct RetryAfter {
    /// Seconds, and the refusals in each; the last is not over.
    past: VecDeque<(u64, u64)>,
    seconds: u64,
    raised_at: u64,
}

impl Default for RetryAfter {
    fn default() -> Self {
        RetryAfter { past: VecDeque::new(), seconds: 1, raised_at: 0 }
    }
}

impl RetryAfter {
    /// Counts a refusal in this second (since any beginning). Returns the value of `Retry-After`.
    pub fn refused(&mut self, second: u64) -> u32 {
        match self.past.back_mut() {
            Some((last, count)) if *last >= second => *count += 1,
            _ => {
                self.past.retain(|(past, _)| second - past <= LONGEST);
                self.weigh(second);
                self.past.push_back((second, 1));
            }
        }
        self.seconds as u32
    }

    /// Changes the time by what was refused in the last so many seconds.
    fn weigh(&mut self, second: u64) {
        let recent = self.past.iter().filter(|(past, _)| second - past <= self.seconds);
        let refused: u64 = recent.map(|(_, count)| count).sum();
        if refused >= 3 * self.seconds && second.saturating_sub(self.raised_at) >= self.seconds {
            self.seconds = (2 * self.seconds).min(LONGEST);
            self.raised_at = second;
        } else if refused < self.seconds && self.seconds > 1 {
            self.seconds -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_refusals_double_the_time_and_few_lower_it() {
        let mut retry = RetryAfter::default();
        let mut second = |second: u64, refusals: u32| (0..refusals).map(|_| retry.refused(second)).last();
        assert_eq!(second(100, 10), Some(1));
        assert_eq!(second(101, 10), Some(2));
        assert_eq!(second(102, 10), Some(2), "the time itself must have passed");
        assert_eq!(second(103, 20), Some(4));
        assert_eq!(second(107, 1), Some(8));
        // One in the last 8 seconds, and 20 more.
        assert_eq!(second(111, 1), Some(8));
        assert_eq!(second(112, 1), Some(7));
        assert_eq!(second(140, 1), Some(6));
        let mut at = 141;
        for _ in 0..40 {
            second(at, 200);
            at += 1;
        }
        assert_eq!(second(at, 1), Some(32));
        for _ in 0..31 {
            at += 100;
            second(at, 1);
        }
        assert_eq!(second(at + 100, 1), Some(1));
    }
}
