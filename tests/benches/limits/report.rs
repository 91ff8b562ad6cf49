//! The table of results.

use std::{fmt, time::Duration};

/// What a value should be.
#[derive(Clone, Copy)]
pub enum Wanted {
    /// No less.
    AtLeast(f64),
    /// No more.
    AtMost(f64),
    /// Printed for information.
    Unlimited,
}

struct Line {
    what: String,
    value: f64,
    unit: &'static str,
    wanted: Wanted,
    detail: String,
}

/// Everything that was measured.
#[derive(Default)]
pub struct Report(Vec<Line>);

impl Report {
    /// A rate beside its limit: the median of the ratios of the turns. `cpu` is the processor time of the
    /// server for one answer, in seconds.
    pub fn ratio(
        &mut self,
        what: &str,
        limit: &str,
        measured: &[f64],
        best: &[f64],
        cpu: f64,
        wanted: Wanted,
    ) {
        let mut ratios: Vec<f64> =
            measured.iter().zip(best).map(|(measured, best)| measured / best).collect();
        let value = median(&mut ratios);
        let spread = format!("turns {:.2} to {:.2}", ratios[0], ratios[ratios.len() - 1]);
        let (ours, theirs) = (median(&mut measured.to_vec()), median(&mut best.to_vec()));
        let micros = cpu * 1e6;
        let detail = format!(
            "{ours:.0}/s beside {theirs:.0}/s of {limit}; {spread}; {micros:.1} us of processor each"
        );
        self.add(what, value, "of the limit", wanted, detail);
    }

    /// A duration, in milliseconds.
    pub fn time(&mut self, what: &str, time: Duration, wanted: Wanted) {
        self.add(what, time.as_secs_f64() * 1000.0, "ms", wanted, String::new());
    }

    /// A short duration, in microseconds.
    pub fn micros(&mut self, what: &str, time: Duration, wanted: Wanted) {
        self.add(what, time.as_secs_f64() * 1e6, "us", wanted, String::new());
    }

    /// A number of bytes, in mebibytes.
    pub fn size(&mut self, what: &str, bytes: f64, wanted: Wanted) {
        self.add(what, bytes / 1024.0 / 1024.0, "MiB", wanted, String::new());
    }

    /// A number of bytes, in kibibytes.
    pub fn kibibytes(&mut self, what: &str, bytes: f64, wanted: Wanted) {
        self.add(what, bytes / 1024.0, "KiB", wanted, String::new());
    }

    /// How late something came, in milliseconds.
    pub fn latency(&mut self, what: &str, millis: f64, wanted: Wanted, detail: String) {
        self.add(what, millis, "ms", wanted, detail);
    }

    /// A number of something.
    pub fn count(&mut self, what: &str, count: f64, wanted: Wanted) {
        self.add(what, count, "", wanted, String::new());
    }

    /// A part of something, or how many times as much it is.
    pub fn part(&mut self, what: &str, part: f64, of: &str, wanted: Wanted) {
        self.add(what, part, "", wanted, format!("of {of}"));
    }

    fn add(&mut self, what: &str, value: f64, unit: &'static str, wanted: Wanted, detail: String) {
        let line = Line { what: what.to_owned(), value, unit, wanted, detail };
        eprintln!("{}: {:.2} {unit}", line.what, line.value);
        self.0.push(line);
    }

    /// Whether everything is as wanted.
    pub fn holds(&self) -> bool {
        self.0.iter().all(Line::holds)
    }
}

impl Line {
    fn holds(&self) -> bool {
        match self.wanted {
            Wanted::AtLeast(limit) => self.value >= limit,
            Wanted::AtMost(limit) => self.value <= limit,
            Wanted::Unlimited => true,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<38} {:>22}   {:<12}    ", "what", "measured", "wanted")?;
        for line in &self.0 {
            let measured = format!("{:.2} {}", line.value, line.unit);
            let wanted = match line.wanted {
                Wanted::AtLeast(limit) => format!(">= {limit:.2}"),
                Wanted::AtMost(limit) if limit.fract() > 0.0 => format!("<= {limit:.2}"),
                Wanted::AtMost(limit) => format!("<= {limit:.0}"),
                Wanted::Unlimited => String::new(),
            };
            let verdict = if line.holds() { "" } else { "MISSED" };
            writeln!(f, "{:<38} {measured:>22}   {wanted:<12} {verdict:<6} {}", line.what, line.detail)?;
        }
        Ok(())
    }
}

/// The middle value; sorts.
pub fn median<T: Copy + PartialOrd>(values: &mut [T]) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("measured values can be compared"));
    values[values.len() / 2]
}
