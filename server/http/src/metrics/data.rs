//! What the store finds while it looks through its data.

use orch_storage::Patrolled;
use prometheus::{
    IntGauge,
    core::{Collector, Desc},
    proto::MetricFamily,
};

/// One metric: its name, its help text, and its value.
type Row = (&'static str, &'static str, fn(&Patrolled) -> u64);

const ROWS: &[Row] = &[
    ("apiserver_storage_check_rounds", "Times that the whole database was read since the start.", |found| {
        found.rounds
    }),
    ("apiserver_storage_check_rows", "Rows that were read since the start.", |found| found.rows),
    ("apiserver_storage_damaged_rows", "Rows whose checksum does not fit.", |found| found.damaged_rows),
    ("apiserver_storage_unreadable_places", "Places of the database that cannot be read.", |found| {
        found.unreadable
    }),
];

/// Asks the store whenever metrics are read.
pub(super) struct DataMetrics {
    gauges: Vec<IntGauge>,
    patrolled: Box<dyn Fn() -> Patrolled + Send + Sync>,
}

impl DataMetrics {
    pub(super) fn new(patrolled: impl Fn() -> Patrolled + Send + Sync + 'static) -> Self {
        let gauge =
            |(name, help, _): &Row| IntGauge::new(*name, *help).expect("the description is well-formed");
        Self { gauges: ROWS.iter().map(gauge).collect(), patrolled: Box::new(patrolled) }
    }
}

impl Collector for DataMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.gauges.iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let found = (self.patrolled)();
        for (gauge, (.., value)) in self.gauges.iter().zip(ROWS) {
            gauge.set(i64::try_from(value(&found)).unwrap_or(i64::MAX));
        }
        self.gauges.iter().flat_map(Collector::collect).collect()
    }
}
