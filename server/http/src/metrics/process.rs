//! What the operating system knows about the process, under the names that all exporters give it.

use std::{
    fs,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use prometheus::{
    Counter, Gauge,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use crate::proc_stat::{Stat, seconds};

/// The value of a gauge now; `None` if it cannot be read.
type Read = fn() -> Option<f64>;

const GAUGES: &[(&str, &str, Read)] = &[
    ("process_resident_memory_bytes", "Memory of the process that is in RAM.", || of_status("VmRSS:")),
    ("process_virtual_memory_bytes", "Addresses that the process has mapped, in bytes.", || {
        of_status("VmSize:")
    }),
    ("process_virtual_memory_max_bytes", "How many bytes of addresses it may map.", || {
        limit("Max address space")
    }),
    ("process_open_fds", "Open files and sockets of the process.", || {
        Some(fs::read_dir("/proc/self/fd").ok()?.count() as f64)
    }),
    ("process_max_fds", "How many files and sockets it may have open.", || limit("Max open files")),
];

/// Metrics that are read at each scrape.
pub(super) struct ProcessMetrics {
    started: Gauge,
    processor: Counter,
    gauges: Vec<(Gauge, Read)>,
}

impl ProcessMetrics {
    pub(super) fn new(started: SystemTime) -> Self {
        let gauge = |name, help| Gauge::new(name, help).expect("the description is well-formed");
        let since = gauge("process_start_time_seconds", "Start of the process, in seconds since 1970.");
        since.set(started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
        let processor =
            Counter::new("process_cpu_seconds_total", "Processor time of the process, in seconds.");
        ProcessMetrics {
            started: since,
            processor: processor.expect("the description is well-formed"),
            gauges: GAUGES.iter().map(|(name, help, read)| (gauge(name, help), *read)).collect(),
        }
    }
}

impl Collector for ProcessMetrics {
    fn desc(&self) -> Vec<&Desc> {
        let gauges = self.gauges.iter().flat_map(|(gauge, _)| gauge.desc());
        self.started.desc().into_iter().chain(self.processor.desc()).chain(gauges).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut families = self.started.collect();
        if let Some(seconds) = processor_seconds() {
            // Another reader of metrics may have counted further meanwhile.
            self.processor.inc_by((seconds - self.processor.get()).max(0.0));
            families.extend(self.processor.collect());
        }
        for (gauge, read) in &self.gauges {
            if let Some(value) = read() {
                gauge.set(value);
                families.extend(gauge.collect());
            }
        }
        families
    }
}

/// A line of `/proc/self/status`, which is in KiB.
fn of_status(name: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// The soft limit in a line of `/proc/self/limits`; the largest number where there is none.
fn limit(name: &str) -> Option<f64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let soft = limits.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?;
    if soft == "unlimited" { Some(u64::MAX as f64) } else { soft.parse().ok() }
}

/// In user mode and in the kernel.
fn processor_seconds() -> Option<f64> {
    let [user, system] = Stat::read(Path::new("/proc/self"))?.ticks;
    Some(seconds(user + system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_can_be_read() {
        let metrics = ProcessMetrics::new(SystemTime::now());
        let families = metrics.collect();
        assert_eq!(families.len(), metrics.desc().len());
        for family in &families {
            let metric = &family.get_metric()[0];
            let value = metric.get_gauge().get_value().max(metric.get_counter().get_value());
            assert!(value > 0.0 || family.name() == "process_cpu_seconds_total", "{}", family.name());
        }
    }
}
