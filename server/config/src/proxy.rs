//! A proxy in front of the server that authenticates users.

use std::path::PathBuf;

use clap::Args;
use http::HeaderName;
use orch_auth::authenticator::proxy::{ProxyConfig, ProxyHeaders};

use crate::start_error::StartError;

const UID_HEADERS: &str = "--requestheader-uid-headers";

/// Flags about the proxy.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the flags are named after the fields")]
pub struct ProxyFlags {
    /// Certificates, in PEM, of the authorities of proxies that authenticate users and name them in headers.
    /// From everybody else such headers are ignored.
    #[arg(long, value_name = "FILE")]
    requestheader_client_ca_file: Option<PathBuf>,
    /// The common names in the certificates of these proxies. Any, unless it is given.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    requestheader_allowed_names: Vec<String>,
    /// Headers with the name of the user; the first that is there counts. X-Remote-User, unless it is given.
    #[arg(long, value_name = "HEADER,...", value_delimiter = ',')]
    requestheader_username_headers: Vec<String>,
    /// Headers with the uid of the user, where the feature gate of such headers is on. X-Remote-Uid, unless
    /// it is given.
    #[arg(long, value_name = "HEADER,...", value_delimiter = ',')]
    requestheader_uid_headers: Vec<String>,
    /// Headers with a group of the user each. X-Remote-Group, unless it is given.
    #[arg(long, value_name = "HEADER,...", value_delimiter = ',')]
    requestheader_group_headers: Vec<String>,
    /// What the names of headers with extra attributes begin with; the rest is the key. X-Remote-Extra-,
    /// unless it is given.
    #[arg(long, value_name = "PREFIX,...", value_delimiter = ',')]
    requestheader_extra_headers_prefix: Vec<String>,
}

impl ProxyFlags {
    /// Checks that headers have names, that names stand beside an authority, and that the uid is on
    /// (`with_uid`) where it is named.
    pub fn check(self, with_uid: bool) -> Result<Option<ProxyConfig>, StartError> {
        let uid = self.requestheader_uid_headers;
        if !uid.is_empty() && !with_uid {
            let problem = "needs --feature-gates=RemoteRequestHeaderUID=true";
            return Err(StartError::configuration(UID_HEADERS, problem));
        }
        let user = HeaderFlag {
            flag: "--requestheader-username-headers",
            names: self.requestheader_username_headers,
            default: Some("X-Remote-User"),
        };
        let group = HeaderFlag {
            flag: "--requestheader-group-headers",
            names: self.requestheader_group_headers,
            default: Some("X-Remote-Group"),
        };
        let extra = HeaderFlag {
            flag: "--requestheader-extra-headers-prefix",
            names: self.requestheader_extra_headers_prefix,
            default: Some("X-Remote-Extra-"),
        };
        let default = with_uid.then_some("X-Remote-Uid");
        let uid = HeaderFlag { flag: UID_HEADERS, names: uid, default };
        let Some(ca_file) = self.requestheader_client_ca_file else {
            let given = [user, uid, group, extra].into_iter().find(|header| !header.names.is_empty());
            let allowed = &self.requestheader_allowed_names;
            let allowed = (!allowed.is_empty()).then_some("--requestheader-allowed-names");
            return match given.map(|header| header.flag).or(allowed) {
                None => Ok(None),
                Some(flag) => Err(StartError::configuration(flag, "needs --requestheader-client-ca-file")),
            };
        };
        let headers = ProxyHeaders {
            user: user.headers()?,
            uid: uid.headers()?,
            group: group.headers()?,
            extra_prefixes: extra.headers()?,
        };
        for name in &self.requestheader_allowed_names {
            if name.trim().is_empty() {
                return Err(StartError::configuration("--requestheader-allowed-names", "a name is empty"));
            }
        }
        Ok(Some(ProxyConfig { ca_file, allowed_names: self.requestheader_allowed_names, headers }))
    }
}

/// A flag that names headers.
struct HeaderFlag {
    flag: &'static str,
    names: Vec<String>,
    default: Option<&'static str>,
}

impl HeaderFlag {
    /// The names of headers in lower case.
    fn headers(&self) -> Result<Vec<String>, StartError> {
        let Self { flag, names, default } = self;
        let default = default.filter(|_| names.is_empty());
        let lower_case = |name: &str| match HeaderName::from_bytes(name.as_bytes()) {
            Ok(name) => Ok(name.as_str().to_owned()),
            Err(_) => {
                Err(StartError::configuration(flag, format_args!("{name:?} is not the name of a header")))
            }
        };
        names.iter().map(String::as_str).chain(default).map(lower_case).collect()
    }
}
