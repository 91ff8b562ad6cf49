//! Plays a trace, step by step; a step that fails does not stop the ones after it.

use std::time::{Duration, Instant};

use rand::RngExt;

use super::{
    Got, Step, Trace,
    compare::differences,
    exchange::{ExchangeError, perform},
    names::Names,
};
use crate::{Client, TestServer};

/// Pause between two tries of a step that may need some time to match.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// How a step went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answer is the recorded one.
    Matches,
    /// It is the recorded one, except for the records of field ownership.
    LacksManagedFields,
    /// It is another one; the differences.
    Differs(Vec<String>),
}

/// A step that was played.
#[derive(Debug)]
pub struct Outcome<'t> {
    /// The step.
    pub step: &'t Step,
    /// How it went.
    pub verdict: Verdict,
    /// The last answer, if there was one.
    pub got: Option<Got>,
}

/// Plays traces against one server.
pub struct Player<'s> {
    /// The server.
    pub server: &'s TestServer,
    /// The longest wait, retry and watch for steps that are known to fail: they would use up their time in
    /// vain.
    pub patience_with_failing: Duration,
}

impl Player<'_> {
    /// Plays all steps of a trace. `is_failing` tells which are known to fail.
    pub async fn play<'t>(&self, trace: &'t Trace, is_failing: impl Fn(&Step) -> bool) -> Vec<Outcome<'t>> {
        let mut names = Names::new(suffix());
        let mut outcomes = Vec::with_capacity(trace.steps.len());
        for step in &trace.steps {
            let limit = if is_failing(step) { self.patience_with_failing } else { Duration::MAX };
            outcomes.push(self.play_step(step, &mut names, limit).await);
        }
        outcomes
    }

    async fn play_step<'t>(&self, step: &'t Step, names: &mut Names, limit: Duration) -> Outcome<'t> {
        let client = self.client(step);
        let (wait, retry) = (Duration::from_secs_f64(step.wait), Duration::from_secs_f64(step.retry));
        // A read is repeated until it matches, so that the pause before it need not be sat out.
        let (pause, patience) =
            if step.method == "GET" { (Duration::ZERO, wait + retry) } else { (wait, retry) };
        tokio::time::sleep(pause.min(limit)).await;
        let end = Instant::now() + patience.min(limit);
        loop {
            let (verdict, got) = match perform(&client, step, names, limit).await {
                Ok(got) => (judge(step, &got, names), Some(got)),
                Err(error @ ExchangeError::Unsaved(_)) => {
                    return Outcome { step, verdict: Verdict::Differs(vec![error.to_string()]), got: None };
                }
                Err(error) => (Verdict::Differs(vec![error.to_string()]), None),
            };
            if !matches!(verdict, Verdict::Differs(_)) || Instant::now() >= end {
                return Outcome { step, verdict, got };
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    fn client(&self, step: &Step) -> Client {
        match step.token.as_deref().unwrap_or("admin") {
            "none" => self.server.without_credentials(),
            user => self.server.user(user),
        }
    }
}

fn judge(step: &Step, got: &Got, names: &mut Names) -> Verdict {
    for (name, pointer) in &step.save {
        match got.body.as_ref().and_then(|body| body.pointer(pointer)) {
            Some(value) => names.save(name, value),
            None => return Verdict::Differs(vec![format!("nothing to save at {pointer}: {}", got.shown())]),
        }
    }
    let found = differences(step, got, names, true);
    if found.is_empty() {
        return Verdict::Matches;
    }
    if differences(step, got, names, false).is_empty() {
        return Verdict::LacksManagedFields;
    }
    Verdict::Differs(found)
}

/// Six letters and digits that no other run uses.
fn suffix() -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut random = rand::rng();
    (0..6).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
}
