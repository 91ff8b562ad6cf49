//! The headers of impersonation: `Impersonate-User`, `-Group`, `-Uid` and `-Extra-<key>`.
//!
//! No header whose name begins so is ever left out: to answer such a request as one of the caller would give
//! a caller who wants fewer rights all of their own. What makes no sense is refused.

use std::collections::BTreeMap;

use http::HeaderMap;
use orch_auth::impersonation::Impersonation;
use orch_registry::error::ApiError;
use percent_encoding::percent_decode_str;

/// What the names of all such headers begin with.
const PREFIX: &str = "impersonate-";

/// Whether a header is one of impersonation.
pub fn is_header(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Why headers of impersonation are refused.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaningless {
    /// Something is to be impersonated without a user; as the reference tells it, in plain text.
    NoUser(String),
    /// A header makes no sense.
    Header(ApiError),
}

impl From<ApiError> for Meaningless {
    fn from(error: ApiError) -> Self {
        Meaningless::Header(error)
    }
}

type Result<T> = std::result::Result<T, Meaningless>;

/// The user that is to be impersonated, if there is one. Without such headers nothing is allocated. `group`
/// is the API group of authentication, for messages.
///
/// # Errors
/// [`Meaningless::NoUser`] where no user is named; 400 with several users or uids, and for headers that are
/// not known or no text.
pub fn wanted(headers: &HeaderMap, group: impl FnOnce() -> String) -> Result<Option<Impersonation>> {
    if headers.keys().any(|name| is_header(name.as_str())) {
        read(headers, group).map(Some)
    } else {
        Ok(None)
    }
}

fn read(headers: &HeaderMap, group: impl FnOnce() -> String) -> Result<Impersonation> {
    let (mut users, mut uids, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (header, value) in headers {
        let Some(part) = header.as_str().strip_prefix(PREFIX) else { continue };
        let value = std::str::from_utf8(value.as_bytes()).map_err(|_| not_text(header.as_str()))?.to_owned();
        match part.strip_prefix("extra-") {
            Some(key) if !key.is_empty() => extra.entry(decoded(key)?).or_default().push(value),
            _ => match part {
                "user" => users.push(value),
                "uid" => uids.push(value),
                "group" => groups.push(value),
                _ => return Err(refused(format!("the header {header} has no meaning")).into()),
            },
        }
    }
    if users.len() > 1 || uids.len() > 1 {
        return Err(refused("more than one user or uid to impersonate".to_owned()).into());
    }
    let (user, uid) = (users.pop().unwrap_or_default(), uids.pop().unwrap_or_default());
    if user.is_empty() {
        let parts = parts(&groups, &uid, &extra, &group());
        return Err(Meaningless::NoUser(format!("requested {parts} without impersonating a user")));
    }
    Ok(Impersonation { user, groups, uid, extra })
}

/// The key of an extra attribute, which is sent percent-encoded where it has characters that the name of a
/// header cannot have.
fn decoded(key: &str) -> Result<String> {
    let key = percent_decode_str(key).decode_utf8().map_err(|_| not_text("impersonate-extra-"))?;
    Ok(key.into_owned())
}

/// What was asked for besides a user, as the reference prints its references to such objects: kind,
/// namespace, name, uid, version, resource version and part.
fn parts(groups: &[String], uid: &str, extra: &BTreeMap<String, Vec<String>>, group: &str) -> String {
    let groups = groups.iter().map(|name| format!("{{Group  {name}    }}"));
    let extra = extra.iter().flat_map(|(key, values)| {
        values.iter().map(move |value| format!("{{UserExtra  {value}  {group}/v1  {key}}}"))
    });
    let uid = (!uid.is_empty()).then(|| format!("{{UID  {uid}  {group}/v1  }}"));
    format!("[{}]", groups.chain(extra).chain(uid).collect::<Vec<_>>().join(" "))
}

fn not_text(header: &str) -> ApiError {
    refused(format!("the header {header} is not valid UTF-8"))
}

fn refused(problem: String) -> ApiError {
    ApiError::BadRequest(problem)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};
    use orch_registry::error::ApiError;

    use super::{Impersonation, Meaningless};

    fn wanted(headers: &HeaderMap) -> Result<Option<Impersonation>, Meaningless> {
        super::wanted(headers, || "auth.io".to_owned())
    }

    fn headers(pairs: &[(&str, &[u8])]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    #[test]
    fn headers_name_a_user_with_groups_uid_and_extra() {
        let asked = wanted(&headers(&[
            ("Accept", b"*/*"),
            ("Impersonate-User", "Jürgen".as_bytes()),
            ("impersonate-group", b"devs"),
            ("Impersonate-Uid", b"7"),
            ("Impersonate-Group", b"a, b"),
            ("Impersonate-Extra-Scopes", b"view"),
            ("Impersonate-Extra-scopes", b"edit"),
            ("Impersonate-Extra-Example.com%2fKey", b""),
            ("Impersonate-Extra-100%", b"odd"),
        ]));
        let asked = asked.unwrap().unwrap();
        assert_eq!((asked.user.as_str(), asked.uid.as_str()), ("Jürgen", "7"));
        assert_eq!(asked.groups, ["devs", "a, b"]);
        let extra: Vec<_> =
            asked.extra.iter().map(|(key, values)| (key.as_str(), values.join("|"))).collect();
        let expected = [("100%", "odd"), ("example.com/key", ""), ("scopes", "view|edit")];
        assert_eq!(extra, expected.map(|(key, values)| (key, values.to_owned())));
        assert_eq!(wanted(&headers(&[("X-Impersonate-User", b"bob"), ("Host", b"h")])), Ok(None));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (pairs, expected) in [
            (
                &[("Impersonate-User", &b"a"[..]), ("Impersonate-User", b"b")][..],
                "more than one user or uid to impersonate",
            ),
            (
                &[("Impersonate-User", b"a"), ("Impersonate-Uid", b"1"), ("Impersonate-Uid", b"1")],
                "more than one user or uid to impersonate",
            ),
            (
                &[("Impersonate-User", b"a"), ("Impersonate-Grop", b"g")],
                "the header impersonate-grop has no meaning",
            ),
            (
                &[("Impersonate-User", b"a"), ("Impersonate-Extra-", b"g")],
                "the header impersonate-extra- has no meaning",
            ),
            (&[("Impersonate-User", b"\xff")], "the header impersonate-user is not valid UTF-8"),
            (&[("Impersonate-Extra-%ff", b"x")], "the header impersonate-extra- is not valid UTF-8"),
        ] {
            let error = ApiError::BadRequest(expected.to_owned());
            assert_eq!(wanted(&headers(pairs)), Err(Meaningless::Header(error)), "{pairs:?}");
        }
    }

    #[test]
    fn nothing_is_impersonated_without_a_user() {
        for (pairs, expected) in [
            (&[("Impersonate-User", &b""[..])][..], "[]"),
            (&[("Impersonate-Group", b"g"), ("Impersonate-Group", b"h")], "[{Group  g    } {Group  h    }]"),
            (
                &[("Impersonate-Uid", b"7"), ("Impersonate-Extra-A%2fb", b"x")],
                "[{UserExtra  x  auth.io/v1  a/b} {UID  7  auth.io/v1  }]",
            ),
        ] {
            let problem = format!("requested {expected} without impersonating a user");
            assert_eq!(wanted(&headers(pairs)), Err(Meaningless::NoUser(problem)), "{pairs:?}");
        }
    }
}
