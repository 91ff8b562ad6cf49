//! A proxy in front of the server that authenticates users.

use std::path::PathBuf;

use clap::Args;
use http::HeaderName;
use orch_auth::authenticator::proxy::{ProxyConfig, ProxyHeaders};

use crate::start_error::StartError;

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
            return Err(StartError::configuration("--requestheader-uid-headers", problem));
        }
        let [user, group, extra] = [
            ("--requestheader-username-headers", self.requestheader_username_headers, "X-Remote-User"),
            ("--requestheader-group-headers", self.requestheader_group_headers, "X-Remote-Group"),
            (
                "--requestheader-extra-headers-prefix",
                self.requestheader_extra_headers_prefix,
                "X-Remote-Extra-",
            ),
        ];
        let uid_default = if with_uid { "X-Remote-Uid" } else { "" };
        let uid = ("--requestheader-uid-headers", uid, uid_default);
        let Some(ca_file) = self.requestheader_client_ca_file else {
            let given = [user, uid, group, extra].into_iter().find(|(_, given, _)| !given.is_empty());
            let allowed = &self.requestheader_allowed_names;
            let allowed = (!allowed.is_empty()).then_some("--requestheader-allowed-names");
            return match given.map(|(flag, ..)| flag).or(allowed) {
                None => Ok(None),
                Some(flag) => Err(StartError::configuration(flag, "needs --requestheader-client-ca-file")),
            };
        };
        let headers = ProxyHeaders {
            user: headers(&user)?,
            uid: headers(&uid)?,
            group: headers(&group)?,
            extra_prefixes: headers(&extra)?,
        };
        for name in &self.requestheader_allowed_names {
            if name.trim().is_empty() {
                return Err(StartError::configuration("--requestheader-allowed-names", "a name is empty"));
            }
        }
        Ok(Some(ProxyConfig { ca_file, allowed_names: self.requestheader_allowed_names, headers }))
    }
}

/// A flag, its values, and its default; an empty one is none.
type Named = (&'static str, Vec<String>, &'static str);

/// The names of headers in lower case.
fn headers((flag, given, default): &Named) -> Result<Vec<String>, StartError> {
    let default = (given.is_empty() && !default.is_empty()).then_some(*default);
    let lower_case = |name: &str| match HeaderName::from_bytes(name.as_bytes()) {
        Ok(name) => Ok(name.as_str().to_owned()),
        Err(_) => Err(StartError::configuration(flag, format_args!("{name:?} is not the name of a header"))),
    };
    given.iter().map(String::as_str).chain(default).map(lower_case).collect()
}
