//! Calls to servers that are started here: right ones, and all kinds of wrong ones.

#![expect(clippy::unwrap_used, reason = "a panic is the report of a test")]

mod server;

use std::time::{Duration, Instant};

use orch_outbound::{
    backoff::Backoff,
    client::{Client, Settings},
    error::OutboundError,
    kubeconfig,
    target::{Credential, Target, TlsOptions},
};
use server::{Reply, Server};

/// Short pauses, so that tests are.
fn settings() -> Settings {
    let backoff = Backoff { initial: Duration::from_millis(5), ..Backoff::default() };
    Settings { timeout: Duration::from_secs(5), max_answer: 1000, backoff, ..Settings::default() }
}

fn target(server: &Server, credential: Credential) -> Target {
    let options = TlsOptions { authorities: Some(server.authority.clone().into()), ..TlsOptions::default() };
    Target::new(&server.url("/review?a=b"), options, credential).unwrap()
}

fn client(server: &Server) -> Client {
    Client::new(target(server, Credential::None), settings())
}

async fn post(client: &Client) -> Result<String, OutboundError> {
    let answer = client.post_json(b"{\"a\":1}".as_slice().into()).await?;
    Ok(String::from_utf8(answer.to_vec()).unwrap())
}

#[tokio::test]
async fn requests_share_a_connection_and_say_who_calls() {
    let server = Server::start(|_| Reply::json("{}")).await;
    let client = Client::new(target(&server, Credential::token("secret").unwrap()), settings());
    for _ in 0..3 {
        assert_eq!(post(&client).await.unwrap(), "{}");
    }
    assert_eq!(server.connections(), 1);
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    let head = requests[0].to_lowercase();
    assert!(head.starts_with("post /review?a=b http/1.1\r\n"), "{head}");
    for line in [
        "authorization: bearer secret",
        "content-type: application/json",
        "accept: application/json, */*",
        "content-length: 7",
    ] {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{line}: {head}");
    }
    assert!(head.contains(&format!("\r\nhost: localhost:{}\r\n", server.port)));
    assert!(requests[0].ends_with("{\"a\":1}"));
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_replaced() {
    let server = Server::start(|_| Reply::json("{}").then_close()).await;
    let once = Settings { backoff: Backoff::ONCE, ..settings() };
    let client = Client::new(target(&server, Credential::None), once);
    for _ in 0..5 {
        assert_eq!(post(&client).await.unwrap(), "{}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    let server = Server::start(|count| match count {
        0 => Reply::status(500),
        1 => Reply::status(429).with("Retry-After: 0"),
        2 => Reply::Close,
        _ => Reply::json("[]"),
    })
    .await;
    assert_eq!(post(&client(&server)).await.unwrap(), "[]");
    assert_eq!(server.requests().len(), 4);

    let server = Server::start(|_| Reply::status(503)).await;
    let error = post(&client(&server)).await.unwrap_err();
    assert!(matches!(error, OutboundError::Status { status: 503, .. }), "{error}");
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn other_failures_are_final() {
    for status in [400, 401, 403, 404, 301, 302, 307, 308] {
        // Where it points to would answer.
        let server = Server::start(move |count| match count {
            0 => Reply::status(status).with("Location: /elsewhere"),
            _ => Reply::json("{}"),
        })
        .await;
        let error = post(&client(&server)).await.unwrap_err();
        assert!(matches!(error, OutboundError::Status { status: found, .. } if found == status), "{error}");
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_target_that_asks_for_a_long_pause_is_not_waited_for() {
    let server = Server::start(|_| Reply::status(429).with("Retry-After: 3600")).await;
    let error = post(&client(&server)).await.unwrap_err();
    assert!(matches!(error, OutboundError::Status { status: 429, .. }), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn answers_are_bounded_in_size_and_in_time() {
    let server = Server::start(|_| Reply::Endless).await;
    let error = post(&client(&server)).await.unwrap_err();
    assert!(matches!(error, OutboundError::TooLarge(1000)), "{error}");

    let server = Server::start(|_| Reply::Nothing).await;
    let hasty = Settings { timeout: Duration::from_millis(200), ..settings() };
    let client = Client::new(target(&server, Credential::None), hasty);
    let error = post(&client).await.unwrap_err();
    assert!(matches!(error, OutboundError::Timeout(_)), "{error}");
    assert_eq!(server.requests().len(), 1, "what is slow is not asked again");
}

#[tokio::test]
async fn only_the_right_server_is_trusted() {
    let (server, other) =
        (Server::start(|_| Reply::json("{}")).await, Server::start(|_| Reply::json("{}")).await);
    let wrong_authority =
        TlsOptions { authorities: Some(other.authority.clone().into()), ..TlsOptions::default() };
    let wrong_name = TlsOptions {
        authorities: Some(server.authority.clone().into()),
        server_name: Some("other.example".to_owned()),
        ..TlsOptions::default()
    };
    for options in [wrong_authority, wrong_name] {
        let target = Target::new(&server.url("/"), options, Credential::token("secret").unwrap()).unwrap();
        let error = post(&Client::new(target, settings())).await.unwrap_err();
        assert!(matches!(error, OutboundError::Target(_)), "{error}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_server_that_is_gone_soon_costs_no_time() {
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let target = Target::new(&nobody, TlsOptions::default(), Credential::None).unwrap();
    let client = Client::new(target, settings());
    let error = post(&client).await.unwrap_err();
    assert!(matches!(error, OutboundError::Connect(_)), "{error}");
    let (start, mut tried) = (Instant::now(), 0);
    for _ in 0..1000 {
        let error = post(&client).await.unwrap_err();
        assert!(matches!(error, OutboundError::CircuitOpen | OutboundError::Connect(_)), "{error}");
        tried += u128::from(matches!(error, OutboundError::Connect(_)));
    }
    // One call after each pause, which is half a second at first.
    assert!(tried <= 1 + start.elapsed().as_millis() / 500, "{tried} more attempts");
}

/// Whoever chooses the questions does not choose who else is answered.
#[tokio::test]
async fn questions_that_fail_keep_nobody_elses_from_being_put() {
    for (reply, why) in [
        (Reply::status(500), "the server answered 500"),
        (Reply::Close, "the connection broke"),
        (Reply::Nothing, "no answer within"),
    ] {
        let asked = reply.clone();
        let server =
            Server::start(move |count| if count < 7 { asked.clone() } else { Reply::json("{}") }).await;
        let once = Settings { timeout: Duration::from_millis(500), backoff: Backoff::ONCE, ..settings() };
        let client = Client::new(target(&server, Credential::None), once);
        for _ in 0..7 {
            let error = post(&client).await.unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
        assert_eq!(post(&client).await.unwrap(), "{}", "after {why}");
    }
}

#[tokio::test]
async fn kubeconfig_files_name_targets() {
    let server = Server::start(|_| Reply::json("{}")).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), &server.authority).unwrap();
    std::fs::write(folder.path().join("token"), "from-file\n").unwrap();
    for (user, authorization) in [
        ("{}", None),
        ("{token: t}", Some("Bearer t")),
        ("{tokenFile: token}", Some("Bearer from-file")),
        ("{username: u, password: p}", Some("Basic dTpw")),
    ] {
        let file = folder.path().join("config");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\npreferences: {{}}\n\
             contexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: '{}', certificate-authority: ca.pem}}}}]\n\
             users: [{{name: u, user: {user}}}]\n",
            server.url("/x")
        );
        std::fs::write(&file, text).unwrap();
        let client = Client::new(kubeconfig::read(&file).unwrap(), settings());
        assert_eq!(post(&client).await.unwrap(), "{}");
        let head = server.requests().pop().unwrap();
        let sent = head.lines().find_map(|line| line.strip_prefix("authorization: "));
        assert_eq!(sent, authorization, "{user}");
    }
}

/// Asks until the answer is the expected one.
async fn until(client: &Client, expected: &str) {
    let start = Instant::now();
    loop {
        let answer = post(client).await;
        if answer.as_deref().is_ok_and(|answer| answer == expected) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{answer:?} is not {expected}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_kubeconfig_file_and_what_it_names_are_followed() {
    let one = Server::start(|_| Reply::json("1")).await;
    let two = Server::start(|_| Reply::json("2")).await;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let config = |server: &Server, authority: &str| {
        let text = format!(
            "contexts: [{{name: c, context: {{cluster: k}}}}]\n\
             clusters: [{{name: k, cluster: {{server: '{}', certificate-authority: {authority}}}}}]\n",
            server.url("/")
        );
        write("config", &text);
    };
    write("ca.pem", &two.authority);
    config(&one, "ca.pem");
    let client = Client::of_kubeconfig(&folder.path().join("config"), settings()).unwrap();
    let error = post(&client).await.unwrap_err();
    assert!(matches!(error, OutboundError::Target(_)), "{error}");
    // What it names.
    write("ca.pem", &one.authority);
    until(&client, "1").await;
    // The file itself, which names a file that comes later. Until then nothing changes.
    config(&two, "later.pem");
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(post(&client).await.unwrap(), "1");
    write("later.pem", &two.authority);
    until(&client, "2").await;
    write("config", "nonsense");
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(post(&client).await.unwrap(), "2");
}
