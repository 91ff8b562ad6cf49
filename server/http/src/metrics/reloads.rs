//! How often a configuration file was read again, and when last.

use std::time::{SystemTime, UNIX_EPOCH};

use prometheus::{GaugeVec, IntCounterVec, Opts, Registry};

/// The metrics of one file.
#[derive(Debug)]
pub(super) struct Reloads {
    count: IntCounterVec,
    times: GaugeVec,
}

impl Reloads {
    /// The metrics of the file that configures `subject`; their names are those of the reference.
    pub(super) fn new(registry: &Registry, subject: &str) -> Self {
        const STATUS: &[&str] = &["status"];
        const WELL_FORMED: &str = "the description is well-formed";
        let prefix = format!("apiserver_{subject}_config_controller_automatic_reload");
        let help =
            format!("Changes of the file that configures {subject}, by whether the new one was right.");
        let count = IntCounterVec::new(Opts::new(format!("{prefix}s_total"), help), STATUS);
        let help = format!("The last change of the file that configures {subject}, by its status.");
        let times = GaugeVec::new(Opts::new(format!("{prefix}_last_timestamp_seconds"), help), STATUS);
        let reloads = Reloads { count: count.expect(WELL_FORMED), times: times.expect(WELL_FORMED) };
        super::register(registry, reloads.count.clone());
        super::register(registry, reloads.times.clone());
        reloads
    }

    /// Counts a change: whether the new file is in force.
    pub(super) fn count(&self, is_right: bool) {
        let status = if is_right { "success" } else { "failure" };
        self.count.with_label_values(&[status]).inc();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.times.with_label_values(&[status]).set(now.as_secs_f64());
    }
}
