//! The claims that every token must have: whom it is for, and when.

use serde_json::{Map, Value};

/// How far the clock of an issuer may be ahead, in seconds. The end of a token is strict.
const NOT_BEFORE_LEEWAY: f64 = 300.0;

/// Whether the token is for one of these audiences, and good now. The result is when it ends; times are in
/// seconds since 1970.
///
/// # Errors
/// What is wrong, without values of the token.
pub(super) fn check(claims: &Map<String, Value>, audiences: &[String], now: u64) -> Result<f64, String> {
    let accepts = |audience: &Value| {
        audience.as_str().is_some_and(|audience| audiences.iter().any(|accepted| accepted == audience))
    };
    let is_for_us = match claims.get("aud") {
        Some(Value::Array(all)) => all.iter().any(accepts),
        Some(one) => accepts(one),
        None => false,
    };
    if !is_for_us {
        return Err("it is for other audiences".to_owned());
    }
    let now = now as f64;
    let end = time(claims, "exp")?.ok_or("it has no end")?;
    // RFC 7519, section 4.1.4: on or after this time it is not accepted.
    if now >= end {
        return Err("it has expired".to_owned());
    }
    match time(claims, "nbf")? {
        Some(begin) if now + NOT_BEFORE_LEEWAY < begin => Err("it is not good yet".to_owned()),
        _ => Ok(end),
    }
}

/// A time in seconds since 1970; it may have a fraction.
fn time(claims: &Map<String, Value>, claim: &str) -> Result<Option<f64>, String> {
    match claims.get(claim) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let time = value.as_f64().ok_or_else(|| format!("the claim {claim:?} is no time"))?;
            Ok(Some(time))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    #[test]
    fn times_and_audiences_are_judged() {
        const OTHERS: &str = "it is for other audiences";
        for (claims, expected) in [
            (json!({"aud": "us", "exp": 1001}), Ok(())),
            (json!({"aud": ["x", "us"], "exp": 1001, "nbf": 900, "iat": 5000}), Ok(())),
            (json!({"aud": "us", "exp": 1000.5, "nbf": null}), Ok(())),
            (json!({"aud": "us", "exp": 1e300}), Ok(())),
            (json!({"exp": 1001}), Err(OTHERS)),
            (json!({"aud": [], "exp": 1001}), Err(OTHERS)),
            (json!({"aud": "u", "exp": 1001}), Err(OTHERS)),
            (json!({"aud": {"us": 1}, "exp": 1001}), Err(OTHERS)),
            (json!({"aud": "us"}), Err("it has no end")),
            (json!({"aud": "us", "exp": 1000}), Err("it has expired")),
            (json!({"aud": "us", "exp": 0}), Err("it has expired")),
            (json!({"aud": "us", "exp": "1001"}), Err("the claim \"exp\" is no time")),
            (json!({"aud": "us", "exp": 2000, "nbf": 1300}), Ok(())),
            (json!({"aud": "us", "exp": 2000, "nbf": 1301}), Err("it is not good yet")),
            (json!({"aud": "us", "exp": 2000, "nbf": true}), Err("the claim \"nbf\" is no time")),
        ] {
            let Value::Object(fields) = &claims else { panic!("{claims} is an object") };
            let found = check(fields, &["our".to_owned(), "us".to_owned()], 1000);
            assert_eq!(found.map(drop), expected.map_err(str::to_owned), "{claims}");
        }
    }
}
