//! The file of `--tracing-config-file`: where spans go, and of how many requests.
//!
//! ```yaml
//! apiVersion: apiserver.config.orch.io/v1beta1
//! kind: TracingConfiguration
//! endpoint: localhost:4317
//! samplingRatePerMillion: 1000
//! ```
//!
//! As in the reference, the endpoint is a host and a port that take OTLP by gRPC, without TLS. With `http://`
//! or `https://` it is that of OTLP over HTTP; without a path that is `/v1/traces`.

use std::path::Path;

use orch_auth::{config_file, error::AuthError};
use orch_outbound::{
    error::OutboundError,
    target::{Credential, Target, TlsOptions},
};
use orch_runtime::vocabulary::Vocabulary;
use orch_settings::{Fault, Spanned, fault};
use serde::Deserialize;

use super::delivery::Collector;

/// Where collectors listen.
const DEFAULT_ENDPOINT: &str = "localhost:4317";
/// The path that collectors expect over HTTP.
const PATH: &str = "/v1/traces";
/// The most that a share per million can be.
const MILLION: i64 = 1_000_000;

/// What the file says.
pub(super) struct Settings {
    /// Who gets the spans.
    pub collector: Collector,
    /// Of a million requests that belong to no trace, so many begin one.
    pub per_million: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    api_version: Spanned<String>,
    kind: Spanned<String>,
    endpoint: Option<Spanned<String>>,
    sampling_rate_per_million: Option<Spanned<i64>>,
}

/// Reads a file.
///
/// # Errors
/// Where it cannot be read, or is not right.
pub(super) fn read(path: &Path, vocabulary: &Vocabulary) -> Result<Settings, AuthError> {
    config_file::read_once(path, |text| parse(text, vocabulary))
}

pub(super) fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Settings, Fault> {
    let file: File = orch_settings::parse(text)?;
    let versions =
        ["v1beta1", "v1alpha1"].map(|name| format!("apiserver.config.{}/{name}", vocabulary.group_suffix));
    orch_settings::check_kind(&file.api_version, &versions, &file.kind, "TracingConfiguration")?;
    let collector = match &file.endpoint {
        Some(endpoint) => {
            collector(&endpoint.value).map_err(|error| fault(endpoint, format!("endpoint: {error}")))?
        }
        None => collector(DEFAULT_ENDPOINT).map_err(|error| ((1, 1), error.to_string()))?,
    };
    let per_million = match &file.sampling_rate_per_million {
        Some(rate) if !(0..=MILLION).contains(&rate.value) => {
            return Err(fault(rate, format!("samplingRatePerMillion must be from 0 to {MILLION}")));
        }
        Some(rate) => rate.value as u32,
        None => 0,
    };
    Ok(Settings { collector, per_million })
}

fn collector(endpoint: &str) -> Result<Collector, OutboundError> {
    let rest = ["http://", "https://"].into_iter().find_map(|scheme| endpoint.strip_prefix(scheme));
    let Some(rest) = rest else { return Collector::of_grpc(endpoint) };
    let url = match rest.split_once('/') {
        None => format!("{endpoint}{PATH}"),
        Some((_, "")) => format!("{}{PATH}", endpoint.trim_end_matches('/')),
        Some(_) => endpoint.to_owned(),
    };
    Ok(Collector::of_http(Target::new(&url, TlsOptions::default(), Credential::None)?))
}
