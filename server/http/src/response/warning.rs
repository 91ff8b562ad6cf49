//! `Warning` headers (RFC 7234 section 5.5): what a client should know beside the answer or the refusal.

use axum::response::Response;
use http::{HeaderValue, header};

/// All warnings of a response together may have this many characters.
const MAX_TOTAL: usize = 4096;

/// Where they have more, each is cut to this many.
const MAX_CUT: usize = 256;

/// Adds a `Warning` header for each text, once. Texts with control characters are left out. Where all are too
/// long together, they are cut and the last ones left out.
pub fn warn(response: &mut Response, warnings: &[String]) {
    let mut texts: Vec<&str> = Vec::new();
    for warning in warnings {
        if !texts.contains(&warning.as_str()) && !warning.chars().any(char::is_control) {
            texts.push(warning);
        }
    }
    let length = |text: &str| text.chars().count();
    let mut left = MAX_TOTAL;
    let is_cut = texts.iter().map(|text| length(text)).sum::<usize>() > MAX_TOTAL;
    for text in texts {
        let end = text.char_indices().nth(MAX_CUT).filter(|_| is_cut).map_or(text.len(), |(end, _)| end);
        let warning = &text[..end];
        let Some(rest) = left.checked_sub(length(warning)) else { break };
        left = rest;
        let text = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{text}\"")) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(warnings: &[String]) -> Vec<String> {
        let mut response = Response::default();
        warn(&mut response, warnings);
        response
            .headers()
            .get_all(header::WARNING)
            .iter()
            .map(|value| value.to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn each_text_is_sent_once_and_quoted() {
        let texts = ["unknown field \"a\"", "b", "b", "two\nlines"].map(str::to_owned);
        assert_eq!(headers(&texts), [r#"299 - "unknown field \"a\"""#, r#"299 - "b""#]);
    }

    #[test]
    fn much_is_cut() {
        let long: Vec<String> = (0..100).map(|n| format!("{n:03}{}", "x".repeat(497))).collect();
        let sent = headers(&long);
        assert_eq!(sent.len(), MAX_TOTAL / MAX_CUT);
        assert!(sent.iter().all(|text| text.len() == MAX_CUT + "299 - \"\"".len()));
        assert_eq!(headers(&long[..8]).iter().map(String::len).sum::<usize>(), 8 * (500 + 8));
    }
}
