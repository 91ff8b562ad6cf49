//! Addresses of issuers.

/// Of an address that is not one of `https`.
pub const NO_HTTPS: &str = "must begin with https://";

/// What is wrong with an address: it must be one of `https`, and no more than a place, so that the keys of
/// the issuer can be found by it (`OpenID` Connect Discovery 1.0, section 3).
pub fn check(url: &str) -> Result<(), &'static str> {
    if url.is_empty() {
        return Err("must not be empty");
    }
    let Some(rest) = url.strip_prefix("https://") else { return Err(NO_HTTPS) };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() || host.starts_with(':') {
        return Err("has no host");
    }
    if host.contains('@') {
        return Err("must not contain a username or password");
    }
    if url.contains(|character: char| character.is_whitespace() || character.is_control()) {
        return Err("must not contain blanks or control characters");
    }
    if url.contains('#') {
        return Err("must not contain a fragment");
    }
    if url.contains('?') {
        return Err("must not contain a query");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn an_address_is_a_place_and_no_more() {
        for (url, expected) in [
            ("https://a.example", Ok(())),
            ("https://a.example:8443/tenant/b/", Ok(())),
            ("https://[::1]:1", Ok(())),
            ("", Err("must not be empty")),
            ("http://a.example", Err("must begin with https://")),
            ("a.example", Err("must begin with https://")),
            ("https:///path", Err("has no host")),
            ("https://:8443", Err("has no host")),
            ("https://a.example/b c", Err("must not contain blanks or control characters")),
            ("https://a.example\n", Err("must not contain blanks or control characters")),
            ("https://user:password@a.example", Err("must not contain a username or password")),
            ("https://a.example/b?c=d", Err("must not contain a query")),
            ("https://a.example#b", Err("must not contain a fragment")),
        ] {
            assert_eq!(check(url), expected, "{url}");
        }
    }
}
