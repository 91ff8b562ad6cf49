//! Addresses of the web: an absolute URI with an authority, or an absolute path (`net/url`,
//! `ParseRequestURI`).

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Write as _},
};

/// An address, in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    text: String,
    scheme: String,
    /// With the port.
    host: String,
    path: String,
    query: String,
}

impl Url {
    /// Reads an address; nothing for any other text. The fragment is not looked for.
    pub fn parse(text: &str) -> Option<Url> {
        if text.is_empty() || text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return None;
        }
        let (scheme, rest) = split_scheme(text)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = match rest.strip_prefix("//") {
            Some(after) if !scheme.is_empty() || !rest.starts_with("///") => {
                let at = after.find('/').unwrap_or(after.len());
                (host_of(&after[..at])?, &after[at..])
            }
            _ => ("", rest),
        };
        let has_right_shape = !host.is_empty() || rest.starts_with('/');
        if !has_right_shape || !has_right_escapes(path) {
            return None;
        }
        Some(Url {
            text: text.to_owned(),
            scheme: scheme.to_ascii_lowercase(),
            host: host.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
        })
    }

    /// `https`; empty for a path.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// `example.com:80`, `[::1]:80`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// `example.com`, `::1`.
    pub fn host_name(&self) -> &str {
        let name = self
            .host
            .rfind(':')
            .filter(|at| is_port(&self.host[*at..]))
            .map_or(&*self.host, |at| &self.host[..at]);
        name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
    }

    /// `80`; empty where there is none.
    pub fn port(&self) -> &str {
        let at = self.host.rfind(':').filter(|at| is_port(&self.host[*at..]));
        at.map_or("", |at| &self.host[at + 1..])
    }

    /// The path, with `%` for what cannot stand there as it is.
    pub fn escaped_path(&self) -> String {
        let mut out = String::with_capacity(self.path.len());
        for byte in self.path.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@%!'()*[]".contains(&byte) {
                out.push(char::from(byte));
            } else {
                let _ = write!(out, "%{byte:02X}");
            }
        }
        out
    }

    /// The values of each name of the query; pairs that cannot be read are left out.
    pub fn query(&self) -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Some(name), Some(value)) = (unescaped(name), unescaped(value)) {
                all.entry(name).or_default().push(value);
            }
        }
        all
    }
}

impl Display for Url {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// The scheme, and what follows its colon. A text without one has an empty scheme.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|ch: char| !ch.is_ascii_alphanumeric() && !"+-.".contains(ch));
    match end {
        Some(0) if text.starts_with(':') => None,
        Some(at) if text[at..].starts_with(':') && text.starts_with(|ch: char| ch.is_ascii_alphabetic()) => {
            Some((&text[..at], &text[at + 1..]))
        }
        _ => Some(("", text)),
    }
}

/// The host with its port, of what may have a user before it.
fn host_of(authority: &str) -> Option<&str> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = match host.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?.1,
        None => host.find(':').map_or("", |at| &host[at..]),
    };
    let is_right =
        |byte: u8| byte >= 0x80 || byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte);
    let is_host = host.bytes().all(is_right) && has_right_escapes(host);
    (is_host && (port.is_empty() || is_port(port))).then_some(host)
}

/// `:80`, or a colon alone.
fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn has_right_escapes(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|after| after.len() >= 2 && after.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
}

/// A part of a query: `%41` and `+` stand for others.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = str::from_utf8(rest.get(..2)?).ok()?;
                let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_number)?);
                rest = &rest[2..];
            }
            other => bytes.push(*other),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn addresses_have_parts() {
        for (text, parts) in [
            ("https://example.com:80/", ["https", "example.com:80", "example.com", "80", "/"]),
            ("https://example.com", ["https", "example.com", "example.com", "", ""]),
            ("https://[::1]:80/a b", ["https", "[::1]:80", "::1", "80", "/a%20b"]),
            ("HTTP://user@example.com/a%20b?x=1", ["http", "example.com", "example.com", "", "/a%20b"]),
            ("/path", ["", "", "", "", "/path"]),
        ] {
            let url = Url::parse(text).unwrap();
            let found = [url.scheme(), url.host(), url.host_name(), url.port(), &url.escaped_path()];
            assert_eq!(found, parts, "{text}");
        }
        let wrong = [
            "",
            "a",
            "../a",
            "example.com",
            "mailto:a@b",
            "https://a:b/",
            "https://a b/",
            "/%4",
            ":a",
            "a\n",
        ];
        for text in wrong {
            assert_eq!(Url::parse(text), None, "{text}");
        }
    }

    #[test]
    fn queries_are_read() {
        let url = Url::parse("https://example.com/path?a=b%20c&k=1&k=+2&bad=%4&x;y=1").unwrap();
        let found: Vec<(String, Vec<String>)> = url.query().into_iter().collect();
        let of = |name: &str, values: &[&str]| {
            (name.to_owned(), values.iter().map(|value| (*value).to_owned()).collect::<Vec<String>>())
        };
        assert_eq!(found, [of("a", &["b c"]), of("k", &["1", " 2"])]);
    }
}
