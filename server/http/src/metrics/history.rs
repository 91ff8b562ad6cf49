//! How much past the store holds, and whether that is less than it should be.

use std::time::Duration;

use orch_storage::{HistoryUse, Timestamp};
use prometheus::{
    Gauge, IntCounter, IntGauge, IntGaugeVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

/// Metrics whose values are read from the store at each scrape.
pub(super) struct HistoryMetrics {
    bytes: IntGaugeVec,
    states: IntGauge,
    frames: IntGauge,
    reaches_back: Gauge,
    forgotten_early: IntCounter,
    retention: Duration,
    read: Box<dyn Fn() -> (HistoryUse, Timestamp) + Send + Sync>,
}

impl HistoryMetrics {
    /// `retention` is how far back history should reach; `read` gives what it holds, and the time.
    pub(super) fn new(
        retention: Duration,
        read: impl Fn() -> (HistoryUse, Timestamp) + Send + Sync + 'static,
    ) -> Self {
        const WELL_FORMED: &str = "the description is well-formed";
        let bytes = Opts::new(
            "apiserver_storage_history_bytes",
            "Memory held for past versions (states) and for encoded events of watches (frames).",
        );
        let bytes = IntGaugeVec::new(bytes, &["part"]).expect(WELL_FORMED);
        let reaches_back = Gauge::new(
            "apiserver_storage_history_seconds",
            "How far back history reaches, at most --history-retention.",
        );
        let forgotten_early = IntCounter::new(
            "apiserver_storage_history_forgotten_early_total",
            "Versions forgotten before --history-retention, because --history-size was used up.",
        );
        HistoryMetrics {
            states: bytes.with_label_values(&["states"]),
            frames: bytes.with_label_values(&["frames"]),
            bytes,
            reaches_back: reaches_back.expect(WELL_FORMED),
            forgotten_early: forgotten_early.expect(WELL_FORMED),
            retention,
            read: Box::new(read),
        }
    }
}

impl Collector for HistoryMetrics {
    fn desc(&self) -> Vec<&Desc> {
        let all: [&dyn Collector; 3] = [&self.bytes, &self.reaches_back, &self.forgotten_early];
        all.into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let (now_held, now) = (self.read)();
        self.states.set(i64::try_from(now_held.state_bytes).unwrap_or(i64::MAX));
        self.frames.set(i64::try_from(now_held.frame_bytes).unwrap_or(i64::MAX));
        let reaches_back = now_held.forgotten_through.map_or(self.retention, |forgotten| {
            Duration::from_millis(now.0.saturating_sub(forgotten.0)).min(self.retention)
        });
        self.reaches_back.set(reaches_back.as_secs_f64());
        self.forgotten_early.inc_by(now_held.forgotten_early.saturating_sub(self.forgotten_early.get()));
        let all: [&dyn Collector; 3] = [&self.bytes, &self.reaches_back, &self.forgotten_early];
        all.into_iter().flat_map(Collector::collect).collect()
    }
}
