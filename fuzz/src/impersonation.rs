//! The headers `Impersonate-*`: none of them is left out, whatever they say.
//!
//! The input is lines of a name, a colon and a value; lines that are no header are left out.

use http::{HeaderMap, HeaderName, HeaderValue};
use orch_apiserver::request::impersonation;

pub fn run(input: &[u8]) {
    let mut headers = HeaderMap::new();
    for line in input.split(|byte| *byte == b'\n') {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        let value = HeaderValue::from_bytes(value.get(1..).unwrap_or_default().trim_ascii());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), value)
            && headers.try_append(name, value).is_err()
        {
            // More than a request can have.
            return;
        }
    }
    let asked = headers.keys().filter(|name| name.as_str().starts_with("impersonate-"));
    let asked: usize = asked.map(|name| headers.get_all(name).iter().count()).sum();
    match impersonation::wanted(&headers, || "authentication.orch.io".to_owned()) {
        Ok(None) => assert_eq!(asked, 0),
        Ok(Some(wanted)) => {
            let uids = headers.get_all("impersonate-uid").iter().count();
            let extra: usize = wanted.extra.values().map(Vec::len).sum();
            assert_eq!(asked, 1 + uids + wanted.groups.len() + extra);
            assert!(!wanted.user.is_empty());
        }
        Err(_) => assert!(asked > 0),
    }
}
