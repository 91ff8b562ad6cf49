//! What the operating system knows about the process.

use std::{
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

use prometheus::{
    Gauge,
    core::{Collector, Desc},
    proto::MetricFamily,
};

/// What the operating system knows about the process; left out where it cannot be read.
pub(super) struct ProcessGauges {
    started: Gauge,
    resident: Gauge,
    files: Gauge,
}

impl ProcessGauges {
    pub(super) fn new(started: SystemTime) -> Self {
        let gauge = |name, help| Gauge::new(name, help).expect("the description is well-formed");
        let gauges = ProcessGauges {
            started: gauge("process_start_time_seconds", "Start of the process, in seconds since 1970."),
            resident: gauge("process_resident_memory_bytes", "Memory of the process that is in RAM."),
            files: gauge("process_open_fds", "Open files and sockets of the process."),
        };
        gauges.started.set(started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
        gauges
    }
}

impl Collector for ProcessGauges {
    fn desc(&self) -> Vec<&Desc> {
        [&self.started, &self.resident, &self.files].into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut families = self.started.collect();
        if let Some(bytes) = resident_bytes() {
            self.resident.set(bytes);
            families.extend(self.resident.collect());
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            self.files.set(files.count() as f64);
            families.extend(self.files.collect());
        }
        families
    }
}

fn resident_bytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024.0)
}
