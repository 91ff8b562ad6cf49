//! When a request reached which stage: for slow requests in the log, for metrics, audit and traces.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant, SystemTime},
};

/// An answer that took longer is slow.
const SLOW: Duration = Duration::from_millis(500);

/// What is done for a request, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is known who makes the request.
    Authentication,
    /// Audit has taken that the request came.
    Audit,
    /// It is known that they may be who they want to be.
    Impersonation,
    /// It is the turn of the request.
    Turn,
    /// It is known that they may.
    Authorization,
    /// The body is read.
    Body,
    /// The verb is performed, and the answer is made.
    Handler,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Stage; 7] = [
        Stage::Authentication,
        Stage::Audit,
        Stage::Impersonation,
        Stage::Turn,
        Stage::Authorization,
        Stage::Body,
        Stage::Handler,
    ];

    /// As in the log and in annotations.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Authentication => "authentication",
            Stage::Audit => "audit",
            Stage::Impersonation => "impersonation",
            Stage::Turn => "apf-queue-wait",
            Stage::Authorization => "authorization",
            Stage::Body => "read-request-body",
            Stage::Handler => "handler",
        }
    }
}

/// The times of one request.
#[derive(Debug)]
pub struct Timeline {
    started: Instant,
    /// The same moment as wall-clock time.
    received: SystemTime,
    /// Microseconds from the start to the end of each stage; 0 for one that was not reached.
    ends: [AtomicU32; Stage::ALL.len()],
}

impl Timeline {
    /// Of a request that came at that time, a moment ago.
    pub fn new(started: Instant) -> Self {
        Timeline { started, received: SystemTime::now(), ends: Default::default() }
    }

    /// A stage has ended now. Returns when that is.
    pub fn end(&self, stage: Stage) -> Instant {
        let now = Instant::now();
        let micros = (now - self.started).as_micros().try_into().unwrap_or(u32::MAX);
        self.ends[stage as usize].store(u32::max(micros, 1), Ordering::Relaxed);
        now
    }

    /// How long it took until a stage ended, which is now where it has not.
    pub fn until(&self, stage: Stage) -> Duration {
        match self.ends[stage as usize].load(Ordering::Relaxed) {
            0 => self.end(stage) - self.started,
            micros => Duration::from_micros(u64::from(micros)),
        }
    }

    /// When a stage began: when the last one before it ended, or the request came.
    pub fn began(&self, stage: Stage) -> Instant {
        let before = self.ends[..stage as usize].iter().map(|end| end.load(Ordering::Relaxed));
        self.started + Duration::from_micros(before.max().unwrap_or(0).into())
    }

    /// When the request came.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// When the request came, as wall-clock time.
    pub fn received(&self) -> SystemTime {
        self.received
    }

    /// The time of each stage that has ended, where a request that took so long is slow.
    pub fn slow(&self, total: Duration) -> Option<Vec<(Stage, Duration)>> {
        (total > SLOW).then(|| self.stages())
    }

    /// The time of each stage that has ended.
    pub fn stages(&self) -> Vec<(Stage, Duration)> {
        let mut before = 0;
        let mut stages = Vec::new();
        for stage in Stage::ALL {
            let end = self.ends[stage as usize].load(Ordering::Relaxed);
            if end > 0 {
                let took = Duration::from_micros(u64::from(end.saturating_sub(before)));
                stages.push((stage, took));
                before = end;
            }
        }
        stages
    }
}

/// Stages in words: `authentication 1ms, handler 600ms`.
pub fn in_words(stages: &[(Stage, Duration)]) -> String {
    stages.iter().map(|(stage, took)| format!("{} {took:?}", stage.name())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_request_has_the_time_of_each_stage() {
        let timeline = Timeline::new(Instant::now());
        assert_eq!(timeline.slow(Duration::from_millis(500)), None);
        for (stage, end) in [(Stage::Authentication, 10_000), (Stage::Handler, 690_000)] {
            timeline.ends[stage as usize].store(end, Ordering::Relaxed);
        }
        let stages = timeline.slow(Duration::from_millis(501)).unwrap();
        assert_eq!(in_words(&stages), "authentication 10ms, handler 680ms");
        assert!(timeline.end(Stage::Body) >= timeline.started());
        let stages: Vec<Stage> = timeline.stages().into_iter().map(|(stage, _)| stage).collect();
        assert_eq!(stages, [Stage::Authentication, Stage::Body, Stage::Handler]);
    }

    #[tokio::test]
    async fn a_stage_ends_once() {
        let timeline = Timeline::new(Instant::now());
        assert_eq!(timeline.began(Stage::Authorization), timeline.started());
        let turn = timeline.until(Stage::Turn);
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(timeline.began(Stage::Authorization).elapsed() >= Duration::from_millis(1));
        assert_eq!(timeline.began(Stage::Turn), timeline.started());
        let again = timeline.until(Stage::Turn);
        assert!(turn.abs_diff(again) <= Duration::from_micros(1), "{turn:?} {again:?}");
        assert!(timeline.until(Stage::Handler) > again);
    }
}
