//! Questions to etcd that no server asks, over its gateway for JSON.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::member::Member;

/// Everything below a prefix, with the keys: what somebody finds who can read the files of etcd.
pub async fn below(member: &Member, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let end = format!("{prefix}0");
    let asked = json!({
        "key": BASE64_STANDARD.encode(format!("{prefix}/")), "range_end": BASE64_STANDARD.encode(end),
    });
    let answer = ask(member, "/v3/kv/range", &asked).await;
    let text = |value: &Value| BASE64_STANDARD.decode(value.as_str().unwrap_or_default()).expect("base64");
    let found = answer["kvs"].as_array().into_iter().flatten();
    found.map(|kv| (String::from_utf8_lossy(&text(&kv["key"])).into_owned(), text(&kv["value"]))).collect()
}

/// Forgets history up to a revision.
pub async fn compact(member: &Member, revision: u64) {
    ask(member, "/v3/kv/compaction", &json!({"revision": revision.to_string()})).await;
}

/// Writes one key.
pub async fn put(member: &Member, key: &str, value: &[u8]) {
    let asked = json!({"key": BASE64_STANDARD.encode(key), "value": BASE64_STANDARD.encode(value)});
    ask(member, "/v3/kv/put", &asked).await;
}

async fn ask(member: &Member, path: &str, body: &Value) -> Value {
    let address = member.url.trim_start_matches("http://");
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).await.expect("etcd listens");
    let head = format!("POST {path} HTTP/1.0\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("etcd listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("etcd answers");
    let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}
