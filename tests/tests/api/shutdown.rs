//! SIGTERM, and what the data directory looks like to others.

use std::{
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use orch_tests::{
    TestServer,
    client::Next,
    objects::{CONFIG_MAPS, config_map, names},
};

#[tokio::test]
async fn a_signal_ends_watches_cleanly_and_keeps_what_was_written() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1")).await;
    let writer = tokio::spawn({
        let admin = admin.clone();
        async move {
            let mut acknowledged = Vec::new();
            for number in 0.. {
                let name = format!("n{number:05}");
                let request = admin.request(http::Method::POST, CONFIG_MAPS).json(&config_map(&name, "1"));
                match request.try_send().await {
                    Ok(answer) if answer.status == 201 => acknowledged.push(name),
                    _ => break,
                }
            }
            acknowledged
        }
    });
    for _ in 0..10 {
        watch.expect("ADDED").await;
    }
    assert!(server.stop().await.success(), "{}", server.log());
    let acknowledged = writer.await.unwrap();
    let end = loop {
        match watch.next(Duration::from_secs(10)).await {
            Next::Event(_) => {}
            other => break other,
        }
    };
    assert!(matches!(end, Next::End("complete")), "{end:?}");

    server.restart().await;
    let list = server.admin().get(CONFIG_MAPS).await.expect(200);
    let kept = names(&list);
    let lost: Vec<&String> = acknowledged.iter().filter(|name| !kept.contains(&name.as_str())).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}

/// Load balancers see that the server is not ready, and clients that come meanwhile are answered.
#[tokio::test]
async fn the_server_goes_on_for_a_while_after_it_was_told_to_stop() {
    let mut server = TestServer::options().flag("--shutdown-delay-duration=2s").start().await;
    let admin = server.admin();
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1")).await;
    server.terminate().await;
    let began = Instant::now();
    while admin.get("/readyz").await.status == 200 {
        assert!(began.elapsed() < Duration::from_secs(10), "ready");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let failed = admin.get("/readyz/shutdown").await;
    assert_eq!(failed.text(), "internal server error: the server is shutting down\n");
    assert_eq!(admin.get("/livez").await.status, 200);
    server.user("admin").post(CONFIG_MAPS, &config_map("late", "1")).await.expect(201);
    watch.expect("ADDED").await;
    assert!(server.exited().await.success(), "{}", server.log());
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
}

/// While a request is being finished, new ones are told to come again later, and probes are answered.
#[tokio::test]
async fn requests_are_told_to_come_later_while_others_are_finished() {
    let mut server = TestServer::options().flag("--shutdown-send-retry-after").start().await;
    let admin = server.admin();
    // A version that is never reached: the server waits for it for three seconds.
    let path = format!("{CONFIG_MAPS}?resourceVersion=999999&resourceVersionMatch=NotOlderThan");
    let slow = tokio::spawn({
        let admin = server.admin();
        async move { admin.get(&path).await.status }
    });
    // The slow request, and the one that asks.
    let both = "apiserver_current_inflight_requests{request_kind=\"readOnly\"} 2\n";
    while !admin.get("/metrics").await.text().contains(both) {
        assert!(!slow.is_finished(), "it has not been seen");
    }
    server.terminate().await;
    let began = Instant::now();
    let refused = loop {
        let answer = admin.get(CONFIG_MAPS).await;
        if answer.status != 200 {
            break answer;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "nobody is refused");
    };
    assert_eq!((refused.status, refused.header("retry-after")), (429, "5"), "{refused:?}");
    assert!(refused.text().contains("shutting down"), "{refused:?}");
    assert_eq!(server.admin().get("/livez").await.status, 200);
    assert_eq!(slow.await.unwrap(), 504);
    assert!(server.exited().await.success(), "{}", server.log());
}

#[tokio::test]
async fn secrets_of_the_data_directory_are_private() {
    let server = TestServer::start().await;
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&server.data_dir()), 0o700);
    assert_eq!(mode(&server.kubeconfig_path()), 0o600);
    let mut folders = vec![server.data_dir()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // Certificates may be read by anyone, and locks say nothing.
            let is_public = path.extension().is_some_and(|extension| extension == "crt")
                || path.file_name().is_some_and(|name| name == "lock" || name == "orch.db.lock");
            let others = mode(&path) % 0o100;
            assert!(is_public || others == 0, "{} may be read by others: {others:o}", path.display());
        }
    }
}
