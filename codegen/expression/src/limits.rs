//! How large expressions may be, and what they may cost.

/// The bounds of one expression. The first three are checked when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text.
    pub text: usize,
    /// Terms: names, literals, operators, calls.
    pub terms: usize,
    /// Levels of terms inside of each other.
    pub depth: usize,
    /// Steps of one evaluation: one for each term that is evaluated, more where functions look at much.
    pub steps: u64,
}

impl Default for Limits {
    /// Room for every rule that a person writes. A million steps take less than a second on any machine.
    fn default() -> Self {
        Limits { text: 64 * 1024, terms: 10_000, depth: 100, steps: 1_000_000 }
    }
}
