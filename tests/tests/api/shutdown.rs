//! SIGTERM, and what the data directory looks like to others.

use std::{os::unix::fs::PermissionsExt, time::Duration};

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
