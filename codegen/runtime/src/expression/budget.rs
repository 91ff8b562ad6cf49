//! How much an evaluation may still do.

use crate::expression::fault::Fault;

/// How many bytes a function may look at or make for one step.
const BYTES_PER_STEP: usize = 10;

/// The steps that are left. Everything whose work grows with its input spends them before it does the work,
/// so time and memory of an evaluation are bounded by the number it began with.
#[derive(Debug)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// A budget of that many steps.
    pub fn new(steps: u64) -> Self {
        Budget { left: steps }
    }

    /// The steps that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes steps, or fails where so many are not left.
    pub fn spend(&mut self, steps: usize) -> Result<(), Fault> {
        let left = self.left.checked_sub(steps as u64);
        self.left = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Fault::TooManySteps)
    }

    /// Takes the steps for reading or writing that many bytes.
    pub fn spend_bytes(&mut self, bytes: usize) -> Result<(), Fault> {
        self.spend(bytes / BYTES_PER_STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;
    use crate::expression::fault::Fault;

    #[test]
    fn what_is_not_left_cannot_be_spent() {
        let mut budget = Budget::new(3);
        assert_eq!(budget.spend(2), Ok(()));
        assert_eq!(budget.spend_bytes(19), Ok(()));
        assert_eq!(budget.left(), 0);
        assert_eq!(budget.spend(0), Ok(()));
        assert_eq!(budget.spend(1), Err(Fault::TooManySteps));
    }
}
