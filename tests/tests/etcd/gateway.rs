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

/// Removes everything below a prefix, at one revision.
pub async fn remove_below(member: &Member, prefix: &str) {
    let [key, range_end] =
        [format!("{prefix}/"), format!("{prefix}0")].map(|key| BASE64_STANDARD.encode(key));
    ask(member, "/v3/kv/deleterange", &json!({"key": key, "range_end": range_end})).await;
}

/// The revision at which etcd stands, when it has a leader again.
pub async fn revision(member: &Member) -> u64 {
    loop {
        let answer = ask(member, "/v3/kv/range", &json!({"key": BASE64_STANDARD.encode("-")})).await;
        match answer["header"]["revision"].as_str().and_then(|text| text.parse().ok()) {
            Some(revision) => return revision,
            None => println!("etcd does not say where it stands: {answer}"),
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

/// Raises or ends an alarm in the name of a member.
pub async fn alarm(member: &Member, is_raised: bool, of: &str, kind: &str) {
    let action = if is_raised { "ACTIVATE" } else { "DEACTIVATE" };
    ask(member, "/v3/maintenance/alarm", &json!({"action": action, "memberID": of, "alarm": kind})).await;
}

/// The members that have raised an alarm of this kind.
pub async fn alarms(member: &Member, kind: &str) -> Vec<String> {
    let answer = ask(member, "/v3/maintenance/alarm", &json!({"action": "GET", "alarm": kind})).await;
    let alarms = answer["alarms"].as_array().into_iter().flatten();
    alarms.filter_map(|alarm| alarm["memberID"].as_str().map(str::to_owned)).collect()
}

/// Gives the room back that compaction has left in the files of a member.
pub async fn defragment(member: &Member) {
    ask(member, "/v3/maintenance/defragment", &json!({})).await;
}

/// Where that is which fills etcd up.
pub const FILLED: &str = "/filled";

/// Writes until there is no room left.
pub async fn fill(member: &Member) {
    let value = BASE64_STANDARD.encode(vec![b'x'; 1_000_000]);
    for index in 0..1000 {
        let key = BASE64_STANDARD.encode(format!("{FILLED}/{index}"));
        let asked = json!({"key": key, "value": value});
        if ask(member, "/v3/kv/put", &asked).await["error"].is_string() {
            return;
        }
    }
    panic!("etcd is never full");
}

/// Writes one key.
pub async fn put(member: &Member, key: &str, value: &[u8]) {
    let asked = json!({"key": BASE64_STANDARD.encode(key), "value": BASE64_STANDARD.encode(value)});
    ask(member, "/v3/kv/put", &asked).await;
}

/// One question to the gateway. Where it is cut off, which a busy etcd does, the answer is an error too.
pub async fn ask(member: &Member, path: &str, body: &Value) -> Value {
    let address = member.url.trim_start_matches("http://");
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).await.expect("etcd listens");
    let head = format!("POST {path} HTTP/1.0\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("etcd listens");
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer).await;
    let Some((_, body)) = answer.split_once("\r\n\r\n").filter(|_| read.is_ok()) else {
        return json!({"error": "the connection was cut"});
    };
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}
