//! Which requests are recorded, and where.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction::Set, Args, ValueEnum};
use orch_audit::backend::{
    Mode, Truncation,
    log::{self, Format, Output, Rotation},
    webhook::{self, Throttle},
};
use orch_runtime::vocabulary::Vocabulary;

use super::{boolean::BOOL, duration::positive, named::named};
use crate::start_error::StartError;

/// A file that is not given a size has that of the reference, in megabytes.
const DEFAULT_MAX_SIZE: u64 = 100;
/// The most events that a buffer or a list may be set to.
const MAX_EVENTS: usize = u32::MAX as usize;
const MEGABYTE: u64 = 1024 * 1024;
const DAY: Duration = Duration::from_hours(24);

/// The form of lines in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LineFormat {
    /// An event as a JSON object.
    Json,
    /// The older form, for people.
    Legacy,
}

/// Flags about audit.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[expect(clippy::struct_field_names, reason = "the flags are named after the fields")]
pub struct AuditFlags {
    /// Which requests are recorded, and how much of them, as a file of the kind Policy. Without it nothing is
    /// recorded.
    #[arg(long, value_name = "FILE")]
    audit_policy_file: Option<PathBuf>,
    /// The file to which events are written, one JSON object in each line; - for stdout.
    #[arg(long, value_name = "FILE")]
    audit_log_path: Option<PathBuf>,
    /// The form of the lines.
    #[arg(long, value_enum, default_value_t = LineFormat::Json)]
    audit_log_format: LineFormat,
    /// Whether requests wait for the log: batch (no), blocking (yes), blocking-strict (yes, and a request is
    /// refused where it cannot be recorded).
    #[arg(
        long,
        value_name = "MODE",
        default_value = Mode::Blocking.name(),
        value_parser = named(Mode::ALL, Mode::name),
    )]
    audit_log_mode: Mode,
    /// The days after which older log files are removed; 0 for never.
    #[arg(long, value_name = "DAYS", default_value_t = 0)]
    audit_log_maxage: u32,
    /// How many older log files are kept; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 0)]
    audit_log_maxbackup: usize,
    /// The megabytes that a log file may have before a new one begins; 0 for 100.
    #[arg(long, value_name = "MEGABYTES", default_value_t = 0)]
    audit_log_maxsize: u64,
    /// Whether older log files are compressed with gzip.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = false)]
    audit_log_compress: bool,
    /// How many events may wait to be written; further ones are lost and counted.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    audit_log_batch_buffer_size: usize,
    /// How many events are written at a time.
    #[arg(long, value_name = "N", default_value_t = 100)]
    audit_log_batch_max_size: usize,
    /// Whether events that are larger than --audit-log-truncate-max-event-size are recorded without their
    /// objects.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = false)]
    audit_log_truncate_enabled: bool,
    /// The bytes that an event in the log may have.
    #[arg(long, value_name = "BYTES", default_value_t = 102_400)]
    audit_log_truncate_max_event_size: usize,
    /// The version of events in the log: audit.<suffix of groups>/v1.
    #[arg(long, value_name = "VERSION")]
    audit_log_version: Option<String>,
    /// The server to which events are sent, as a kubeconfig file.
    #[arg(long, value_name = "FILE")]
    audit_webhook_config_file: Option<PathBuf>,
    /// Whether requests wait for the webhook, as for --audit-log-mode.
    #[arg(
        long,
        value_name = "MODE",
        default_value = Mode::Batch.name(),
        value_parser = named(Mode::ALL, Mode::name),
    )]
    audit_webhook_mode: Mode,
    /// The first pause before a list of events is sent again.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = positive)]
    audit_webhook_initial_backoff: Duration,
    /// How many events may wait to be sent; further ones are lost and counted.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    audit_webhook_batch_buffer_size: usize,
    /// How many events are sent together.
    #[arg(long, value_name = "N", default_value_t = 400)]
    audit_webhook_batch_max_size: usize,
    /// How long an event waits for others before it is sent.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = positive)]
    audit_webhook_batch_max_wait: Duration,
    /// Whether there is a bound on how often lists are sent.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = true)]
    audit_webhook_batch_throttle_enable: bool,
    /// How many lists are sent in a second, on average.
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    audit_webhook_batch_throttle_qps: f64,
    /// How many lists are sent at once after a pause.
    #[arg(long, value_name = "N", default_value_t = 15)]
    audit_webhook_batch_throttle_burst: u32,
    /// Whether events that are larger than --audit-webhook-truncate-max-event-size are sent without their
    /// objects.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = false)]
    audit_webhook_truncate_enabled: bool,
    /// The bytes that an event may have that is sent.
    #[arg(long, value_name = "BYTES", default_value_t = 102_400)]
    audit_webhook_truncate_max_event_size: usize,
    /// The bytes that a list of several events may have.
    #[arg(long, value_name = "BYTES", default_value_t = 10_485_760)]
    audit_webhook_truncate_max_batch_size: usize,
    /// The version of events that are sent: audit.<suffix of groups>/v1.
    #[arg(long, value_name = "VERSION")]
    audit_webhook_version: Option<String>,
}

/// Which requests are recorded, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditConfig {
    /// Which requests, and how much of them; nothing is recorded without it.
    pub policy_file: Option<PathBuf>,
    /// In a log.
    pub log: Option<log::Settings>,
    /// By another server, which a kubeconfig file names.
    pub webhook: Option<(PathBuf, webhook::Settings)>,
}

impl AuditFlags {
    /// Checks that versions are those of the vocabulary and that bounds make sense.
    pub fn check(self, vocabulary: &Vocabulary) -> Result<AuditConfig, StartError> {
        let own = format!("audit.{}/v1", vocabulary.group_suffix);
        for (flag, version) in [
            ("--audit-log-version", &self.audit_log_version),
            ("--audit-webhook-version", &self.audit_webhook_version),
        ] {
            if version.as_ref().is_some_and(|version| *version != own) {
                return Err(StartError::configuration(flag, format!("must be {own}")));
            }
        }
        for (flag, number) in [
            ("--audit-log-batch-buffer-size", self.audit_log_batch_buffer_size),
            ("--audit-log-batch-max-size", self.audit_log_batch_max_size),
            ("--audit-webhook-batch-buffer-size", self.audit_webhook_batch_buffer_size),
            ("--audit-webhook-batch-max-size", self.audit_webhook_batch_max_size),
            ("--audit-webhook-batch-throttle-burst", self.audit_webhook_batch_throttle_burst as usize),
        ] {
            if !(1..=MAX_EVENTS).contains(&number) {
                return Err(StartError::configuration(flag, format!("must be from 1 to {MAX_EVENTS}")));
            }
        }
        let rate = self.audit_webhook_batch_throttle_qps;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(StartError::configuration(
                "--audit-webhook-batch-throttle-qps",
                "must be greater than 0",
            ));
        }
        let suffix = vocabulary.group_suffix;
        let log = self.audit_log_path.clone().map(|path| self.log(path, &own, suffix));
        let file = self.audit_webhook_config_file.clone();
        let webhook = file.map(|file| (file, self.webhook(&own, suffix)));
        Ok(AuditConfig { policy_file: self.audit_policy_file, log, webhook })
    }

    fn log(&self, path: PathBuf, version: &str, suffix: &'static str) -> log::Settings {
        let max_size = if self.audit_log_maxsize == 0 { DEFAULT_MAX_SIZE } else { self.audit_log_maxsize };
        let rotation = Rotation {
            max_size: max_size.saturating_mul(MEGABYTE),
            max_age: (self.audit_log_maxage > 0).then(|| DAY * self.audit_log_maxage),
            max_backups: (self.audit_log_maxbackup > 0).then_some(self.audit_log_maxbackup),
            compress: self.audit_log_compress,
        };
        let truncation = Truncation { max_event: self.audit_log_truncate_max_event_size, suffix };
        log::Settings {
            mode: self.audit_log_mode,
            output: if path.as_os_str() == "-" { Output::Stdout } else { Output::File(path, rotation) },
            format: match self.audit_log_format {
                LineFormat::Json => Format::Json,
                LineFormat::Legacy => Format::Legacy,
            },
            buffer: self.audit_log_batch_buffer_size,
            max_batch: self.audit_log_batch_max_size,
            truncation: self.audit_log_truncate_enabled.then_some(truncation),
            api_version: version.to_owned(),
        }
    }

    fn webhook(&self, version: &str, suffix: &'static str) -> webhook::Settings {
        let throttle = Throttle {
            per_second: self.audit_webhook_batch_throttle_qps,
            burst: self.audit_webhook_batch_throttle_burst,
        };
        let truncation = Truncation { max_event: self.audit_webhook_truncate_max_event_size, suffix };
        webhook::Settings {
            mode: self.audit_webhook_mode,
            buffer: self.audit_webhook_batch_buffer_size,
            max_batch: self.audit_webhook_batch_max_size,
            max_batch_bytes: self.audit_webhook_truncate_max_batch_size,
            max_wait: self.audit_webhook_batch_max_wait,
            throttle: self.audit_webhook_batch_throttle_enable.then_some(throttle),
            initial_backoff: self.audit_webhook_initial_backoff,
            truncation: self.audit_webhook_truncate_enabled.then_some(truncation),
            api_version: version.to_owned(),
        }
    }
}
