//! Messages of JSON-RPC as the protocol frames them: a head with the length, an empty line, JSON.

use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};

/// The longest message that is read. Longer ones are skipped, without being kept.
const MAX_MESSAGE: u64 = 4 * 1024 * 1024;

/// The longest line of a head.
const MAX_LINE: u64 = 4096;

/// A message that is no JSON.
pub const PARSE_ERROR: i32 = -32700;
/// A request that comes before `initialize`, or after `shutdown`.
pub const INVALID_REQUEST: i32 = -32600;
/// A request that nobody knows here.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// A request without what it needs.
pub const INVALID_PARAMS: i32 = -32602;

/// What was read.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    /// A message.
    Message(Value),
    /// What is no message; why.
    Malformed(String),
    /// The editor is gone.
    End,
}

/// Reads the next message.
///
/// # Errors
/// Where reading fails.
pub fn read(input: &mut impl BufRead) -> io::Result<Incoming> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(Incoming::End);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        match (line.split_once(':'), length) {
            (Some((name, value)), _) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse::<u64>().ok();
            }
            (None, Some(length)) if line.is_empty() => return body(input, length),
            // Other heads, and lines that are not heads.
            _ => {}
        }
    }
}

fn body(input: &mut impl BufRead, length: u64) -> io::Result<Incoming> {
    let mut body = input.by_ref().take(length);
    if length > MAX_MESSAGE {
        io::copy(&mut body, &mut io::sink())?;
        return Ok(Incoming::Malformed(format!("a message may have at most {MAX_MESSAGE} bytes")));
    }
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Ok(Incoming::End);
    }
    Ok(match serde_json::from_slice(&bytes) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Malformed(error.to_string()),
    })
}

/// Writes a message.
///
/// # Errors
/// Where writing fails.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// The answer to a request.
pub fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// The answer to a request that fails.
pub fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// A message that wants no answer.
pub fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Incoming, MAX_MESSAGE, read};

    #[test]
    fn what_is_no_message_is_skipped() {
        let long = "x".repeat(usize::try_from(MAX_MESSAGE).unwrap() + 1);
        let text = format!(
            "Content-Length: 2\r\nContent-Type: x\r\n\r\n[]noise\r\n\r\nCONTENT-LENGTH: 3\n\n{{a}}Content-Length: {}\r\n\r\n\
             {long}Content-Length: 1\r\n\r\n7Content-Length: 9\r\n\r\n1",
            long.len()
        );
        let mut input = text.as_bytes();
        let mut next = || read(&mut input).unwrap();
        assert_eq!(next(), Incoming::Message(json!([])));
        assert!(matches!(next(), Incoming::Malformed(why) if why.contains("line 1")));
        assert!(matches!(next(), Incoming::Malformed(why) if why.contains("at most")));
        assert_eq!(next(), Incoming::Message(json!(7)));
        assert_eq!(next(), Incoming::End);
        assert_eq!(next(), Incoming::End);
    }
}
