//! A server that a test plays: which lists it is sent, and what happens when it is gone.

use std::net::SocketAddr;

use orch_outbound::target::{Credential, TlsOptions};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use super::*;
use crate::event::tests::full;

/// Starts a server that answers with these codes in turn, and then with 200. It hands on what it is sent.
async fn serve(codes: &'static [u16]) -> (SocketAddr, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, lists) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut codes = codes.iter().copied();
        while let Ok((stream, _)) = listener.accept().await {
            answer(stream, &mut codes, &seen).await;
        }
    });
    (address, lists)
}

async fn answer(
    mut stream: TcpStream,
    codes: &mut impl Iterator<Item = u16>,
    seen: &mpsc::UnboundedSender<Value>,
) {
    let mut read = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut piece).await else { return };
        read.extend_from_slice(&piece[..count]);
        let text = std::str::from_utf8(&read).unwrap();
        let Some((_, body)) = text.split_once("\r\n\r\n") else { continue };
        let Ok(list) = serde_json::from_str(body) else { continue };
        let code = codes.next().unwrap_or(200);
        if code == 200 {
            seen.send(list).unwrap();
        }
        read.clear();
        let answer = format!("HTTP/1.1 {code} X\r\nContent-Length: 0\r\n\r\n");
        if stream.write_all(answer.as_bytes()).await.is_err() || code != 200 {
            return;
        }
    }
}

fn settings(mode: Mode) -> Settings {
    Settings {
        mode,
        buffer: 100,
        max_batch: 3,
        max_batch_bytes: 1 << 20,
        max_wait: Duration::from_millis(50),
        throttle: None,
        initial_backoff: Duration::from_millis(1),
        truncation: None,
        api_version: "audit.example.io/v1".to_owned(),
    }
}

fn start(settings: Settings, address: SocketAddr) -> (Webhook, Arc<Counters>) {
    let target = Target::new(&format!("http://{address}/"), TlsOptions::default(), Credential::None);
    let counters = Arc::default();
    (Webhook::start(settings, target.unwrap(), &counters), counters)
}

fn count(list: &Value) -> usize {
    assert_eq!(list["kind"], "EventList");
    assert_eq!(list["apiVersion"], "audit.example.io/v1");
    list["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn events_are_sent_together() {
    let (address, mut lists) = serve(&[]).await;
    let (webhook, counters) = start(settings(Mode::Batch), address);
    for _ in 0..4 {
        assert!(webhook.process(&Arc::new(full())).await);
    }
    assert_eq!(count(&lists.recv().await.unwrap()), 3, "a full list");
    let rest = lists.recv().await.unwrap();
    assert_eq!(count(&rest), 1, "what waited long enough");
    assert_eq!(rest["items"][0]["auditID"], "0f1e");
    assert!(rest["items"][0].get("kind").is_none());
    webhook.process(&Arc::new(full())).await;
    webhook.flush().await;
    assert_eq!(count(&lists.try_recv().unwrap()), 1, "the server's end waits for nothing");
    assert_eq!(counters.errors(Plugin::Webhook), 0);
}

#[tokio::test]
async fn large_lists_are_sent_in_parts() {
    let (address, mut lists) = serve(&[]).await;
    let (webhook, _) = start(Settings { max_batch_bytes: 1500, ..settings(Mode::Batch) }, address);
    for _ in 0..3 {
        webhook.process(&Arc::new(full())).await;
    }
    webhook.flush().await;
    let counts: Vec<usize> = std::iter::from_fn(|| lists.try_recv().ok()).map(|list| count(&list)).collect();
    assert!(counts.len() > 1 && counts.iter().sum::<usize>() == 3, "{counts:?}");
}

#[tokio::test]
async fn a_list_is_tried_again_and_lost_after_the_last_attempt() {
    let (address, mut lists) = serve(&[500, 503, 429]).await;
    let (webhook, counters) = start(settings(Mode::Batch), address);
    webhook.process(&Arc::new(full())).await;
    webhook.flush().await;
    assert_eq!(count(&lists.try_recv().unwrap()), 1);

    let (address, _lists) = serve(&[500; 100]).await;
    let (webhook, lost) = start(settings(Mode::Batch), address);
    webhook.process(&Arc::new(full())).await;
    webhook.process(&Arc::new(full())).await;
    webhook.flush().await;
    assert_eq!((counters.errors(Plugin::Webhook), lost.errors(Plugin::Webhook)), (0, 2));
}

#[tokio::test]
async fn requests_wait_and_fail_as_the_mode_says() {
    for (mode, codes, expected) in [
        (Mode::Blocking, &[][..], true),
        (Mode::Blocking, &[500], true),
        (Mode::BlockingStrict, &[], true),
        (Mode::BlockingStrict, &[500], false),
    ] {
        let (address, mut lists) = serve(codes).await;
        let (webhook, counters) = start(settings(mode), address);
        assert_eq!(webhook.process(&Arc::new(full())).await, expected, "{mode:?} {codes:?}");
        assert_eq!(counters.errors(Plugin::Webhook), codes.len() as u64);
        // It has arrived when the request goes on.
        assert_eq!(lists.try_recv().is_ok(), codes.is_empty());
    }
}

/// A server that takes connections and never answers.
async fn hang() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// How long a request waits for its event, and whether it may go on then.
async fn waits(webhook: &Webhook) -> (Duration, bool) {
    let began = Instant::now();
    let goes_on = webhook.process(&Arc::new(full())).await;
    (began.elapsed(), goes_on)
}

/// As long as a webhook that failed five times is left alone, by the clock of the machine.
async fn first_pause() {
    tokio::time::resume();
    sleep(Duration::from_millis(600)).await;
    tokio::time::pause();
}

fn assert_waits((took, goes_on): (Duration, bool), expected: Duration, goes_on_expected: bool) {
    assert!(took >= expected && took < expected + Duration::from_secs(1), "{took:?}, not {expected:?}");
    assert_eq!(goes_on, goes_on_expected);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_hangs_is_left_alone() {
    for mode in [Mode::Blocking, Mode::BlockingStrict] {
        let (_listener, address) = hang().await;
        let (webhook, counters) = start(settings(mode), address);
        let goes_on = mode == Mode::Blocking;
        for _ in 0..5 {
            assert_waits(waits(&webhook).await, PATIENCE, goes_on);
        }
        for _ in 0..3 {
            assert_waits(waits(&webhook).await, Duration::ZERO, goes_on);
        }
        // One call tries then. Its outcome decides only where the mode is strict.
        first_pause().await;
        let expected = if goes_on { Duration::ZERO } else { PATIENCE };
        assert_waits(waits(&webhook).await, expected, goes_on);
        assert_waits(waits(&webhook).await, Duration::ZERO, goes_on);
        sleep(2 * PATIENCE).await;
        assert_eq!(counters.errors(Plugin::Webhook), 10, "{mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_is_left_alone_is_found_again() {
    for mode in [Mode::Blocking, Mode::BlockingStrict] {
        let (listener, address) = hang().await;
        let (webhook, counters) = start(settings(mode), address);
        for _ in 0..5 {
            waits(&webhook).await;
        }
        // It answers now.
        tokio::spawn(async move {
            let (seen, _lists) = mpsc::unbounded_channel();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let seen = seen.clone();
                tokio::spawn(async move { answer(stream, &mut std::iter::empty(), &seen).await });
            }
        });
        tokio::time::resume();
        sleep(Duration::from_millis(600)).await;
        assert!(webhook.process(&Arc::new(full())).await, "{mode:?}: the event that tries");
        sleep(Duration::from_millis(200)).await;
        assert!(!webhook.sender.client.is_left_alone());
        assert!(webhook.process(&Arc::new(full())).await);
        assert_eq!(counters.errors(Plugin::Webhook), 5);
        tokio::time::pause();
    }
}

#[tokio::test(start_paused = true)]
async fn clients_that_do_not_wait_do_not_hide_that_a_webhook_hangs() {
    let (_listener, address) = hang().await;
    let (webhook, counters) = start(settings(Mode::Blocking), address);
    for _ in 0..5 {
        let (one, two) = (full(), full());
        let left = timeout_at(Instant::now() + Duration::from_secs(1), async {
            tokio::join!(webhook.process(&one), webhook.process(&two))
        });
        assert!(left.await.is_err(), "the client waited too short");
        sleep(PATIENCE).await;
    }
    assert_eq!(counters.errors(Plugin::Webhook), 5, "one call at a time outlives its request");
    assert_waits(waits(&webhook).await, Duration::ZERO, true);
}

#[tokio::test(start_paused = true)]
async fn the_throttle_lets_a_burst_pass_and_then_a_rate() {
    let throttle = Some(Throttle { per_second: 10.0, burst: 2 });
    let target = Target::new("http://127.0.0.1:1/", TlsOptions::default(), Credential::None).unwrap();
    let webhook = Webhook::start(Settings { throttle, ..settings(Mode::Batch) }, target, &Arc::default());
    let mut worker = Worker::new(webhook.sender);
    let began = Instant::now();
    for expected in [0, 0, 100, 200, 300] {
        worker.throttled().await;
        let passed = began.elapsed().as_millis();
        assert!((expected..=expected + 2).contains(&passed), "{passed} for {expected}");
    }
}
