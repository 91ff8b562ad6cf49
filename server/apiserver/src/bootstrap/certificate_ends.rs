//! When certificates end: a metric for each, and a line in the log when it is near.

use std::{
    cmp::Reverse,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use prometheus::{GaugeVec, Opts};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

/// An end that is nearer than this is worth a warning. What the server renews itself never comes so near.
const NEAR: Duration = Duration::from_hours(24 * 7);

/// A certificate, or a bundle of authorities, and when the first of its certificates ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// What the certificate is for.
    pub certificate: &'static str,
    /// When it ends.
    pub time: SystemTime,
}

/// The metric of ends, and the warnings in the log.
pub struct CertificateEnds(GaugeVec);

impl CertificateEnds {
    /// The metric without values.
    pub fn new() -> Self {
        let help = "When a certificate ends, in seconds since 1970; of several, the first.";
        let options = Opts::new("apiserver_certificate_expiration_timestamp_seconds", help);
        Self(GaugeVec::new(options, &["certificate"]).expect("the description is well-formed"))
    }

    /// The metric.
    pub fn gauge(&self) -> GaugeVec {
        self.0.clone()
    }

    /// Shows these ends instead of earlier ones, of several of one name the first, and warns of those that
    /// are near.
    pub fn tell(&self, ends: &[End], now: SystemTime) {
        self.0.reset();
        let mut ends = ends.to_vec();
        ends.sort_by_key(|end| Reverse(end.time));
        for End { certificate, time } in ends {
            let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
            self.0.with_label_values(&[certificate]).set(seconds);
            match time.duration_since(now) {
                Err(_) => tracing::warn!(certificate, "a certificate has ended"),
                Ok(left) if left < NEAR => {
                    let hours = left.as_secs() / 3600;
                    tracing::warn!(certificate, hours, "a certificate ends soon");
                }
                Ok(_) => {}
            }
        }
    }
}

/// When the first certificate of a PEM text ends; `None` if it has no certificate.
pub fn first_end(pem: &[u8]) -> Option<SystemTime> {
    let certificates = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
    let ends = certificates.filter_map(|certificate| {
        let (_, parsed) = X509Certificate::from_der(&certificate).ok()?;
        u64::try_from(parsed.validity().not_after.timestamp()).ok()
    });
    ends.min().map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use prometheus::{Encoder, TextEncoder, core::Collector};
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    fn certificate(end: SystemTime) -> String {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_after = end.into();
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
    }

    #[test]
    fn the_first_end_of_a_bundle_counts() {
        let day = |day: u64| UNIX_EPOCH + Duration::from_hours(24 * day);
        let bundle = certificate(day(20_002)) + &certificate(day(20_001)) + &certificate(day(20_003));
        assert_eq!(first_end(bundle.as_bytes()), Some(day(20_001)));
        assert_eq!(first_end(b"no certificate"), None);
    }

    #[test]
    fn ends_are_shown_in_place_of_earlier_ones() {
        let ends = CertificateEnds::new();
        let end = |certificate, seconds| End { certificate, time: UNIX_EPOCH + Duration::from_secs(seconds) };
        ends.tell(&[end("serving", 3), end("admin", 4)], UNIX_EPOCH);
        ends.tell(&[end("serving", 5), end("serving", 6)], UNIX_EPOCH);
        let mut text = Vec::new();
        TextEncoder::new().encode(&ends.gauge().collect(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines, ["apiserver_certificate_expiration_timestamp_seconds{certificate=\"serving\"} 5"]);
    }
}
