//! What answers tell browsers.

use clap::Args;
use http::HeaderValue;
use regex::Regex;

use crate::start_error::StartError;

/// Flags about browsers.
#[derive(Debug, Args)]
pub struct BrowserFlags {
    /// Whose pages may read answers and watches, as the user whom the browser knows: regular expressions for
    /// origins. Each must say where the host begins (^ or //) and where it ends ($ or :), such as
    /// //example\.com(:|$). Without it, only pages of this server may.
    #[arg(long, value_name = "REGEX,...", value_delimiter = ',', value_parser = origin)]
    cors_allowed_origins: Vec<Regex>,
    /// What the header Strict-Transport-Security says: max-age=SECONDS, includeSubDomains, preload. Without
    /// it, answers have no such header.
    #[arg(long, value_name = "DIRECTIVE,...", value_delimiter = ',', value_parser = directive)]
    strict_transport_security_directives: Vec<String>,
}

/// The headers for browsers: CORS and HSTS.
#[derive(Clone, Debug, Default)]
pub struct BrowserConfig {
    /// The origins whose pages may read answers.
    pub origins: Vec<Regex>,
    /// The value of `Strict-Transport-Security` (RFC 6797, section 6.1).
    pub strict_transport: Option<HeaderValue>,
}

impl BrowserConfig {
    /// Whether pages of this origin may read answers.
    pub fn lets_in(&self, origin: &HeaderValue) -> bool {
        origin.to_str().is_ok_and(|origin| self.origins.iter().any(|allowed| allowed.is_match(origin)))
    }
}

impl BrowserFlags {
    /// Checks that the flags fit together.
    pub fn check(self) -> Result<BrowserConfig, StartError> {
        let directives = self.strict_transport_security_directives;
        let strict_transport = if directives.is_empty() {
            None
        } else {
            let value = HeaderValue::try_from(directives.join("; "));
            Some(value.map_err(|problem| {
                StartError::configuration("--strict-transport-security-directives", problem)
            })?)
        };
        Ok(BrowserConfig { origins: self.cors_allowed_origins, strict_transport })
    }
}

/// An expression without both ends would hold for `example.com.evil.net` too (CVE-2022-1996).
fn origin(text: &str) -> Result<Regex, String> {
    let expression = Regex::new(text).map_err(|_| "not a regular expression".to_owned())?;
    if !["^", "//"].iter().any(|begin| text.contains(begin)) {
        return Err("does not say where the host begins: ^ or // is missing".to_owned());
    }
    if !["$", ":"].iter().any(|end| text.replace("://", "").contains(end)) {
        return Err("does not say where the host ends: $ or : is missing".to_owned());
    }
    Ok(expression)
}

fn directive(text: &str) -> Result<String, &'static str> {
    let is_age =
        |age: &str| !age.is_empty() && age.len() <= 10 && age.bytes().all(|byte| byte.is_ascii_digit());
    match text {
        "includeSubDomains" | "preload" => Ok(text.to_owned()),
        _ if text.strip_prefix("max-age=").is_some_and(is_age) => Ok(text.to_owned()),
        _ => Err("not one of max-age=SECONDS, includeSubDomains, preload"),
    }
}
