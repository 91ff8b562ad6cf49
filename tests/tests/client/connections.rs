//! How a server is reached: through a proxy, by another name, from several files.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use orch_client::Settings;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};

use crate::{name, plugin::write_kubeconfig, start};

/// A proxy for `CONNECT` (RFC 9110 section 9.3.6): its URL, and how often it was used.
async fn proxy() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let used = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&used);
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(near.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let target = head.strip_prefix("CONNECT ").unwrap().split(' ').next().unwrap();
                let mut far = TcpStream::connect(target).await.unwrap();
                near.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let _ = copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    (url, used)
}

#[tokio::test]
async fn a_proxy_of_the_kubeconfig_file_is_used() {
    let server = start("orch").await;
    let (url, used) = proxy().await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    write_kubeconfig(&path, &server, &json!({"proxy-url": url}), &json!({"token": "tok-bob"}));
    assert_eq!(name(&Settings::new().file(&path).client().unwrap(), &server).await.unwrap(), "bob");
    assert_eq!(used.load(Ordering::SeqCst), 1);
}

/// A proxy for SOCKS5 without credentials (RFC 1928): its URL, and how often it was used.
async fn socks_proxy() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("socks5://{}", listener.local_addr().unwrap());
    let used = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&used);
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(socks(near));
        }
    });
    (url, used)
}

async fn socks(mut near: TcpStream) {
    async fn read<const N: usize>(near: &mut TcpStream) -> [u8; N] {
        let mut bytes = [0; N];
        near.read_exact(&mut bytes).await.unwrap();
        bytes
    }
    // Version 5, and the ways of the client to say who it is.
    let [version, methods] = read(&mut near).await;
    assert_eq!(version, 5);
    near.read_exact(&mut vec![0; methods.into()]).await.unwrap();
    near.write_all(&[5, 0]).await.unwrap();
    // Version 5, connect, reserved, and the kind of address: a name or four bytes.
    let [_, command, _, kind] = read(&mut near).await;
    assert_eq!(command, 1);
    let host = match kind {
        1 => std::net::Ipv4Addr::from(read::<4>(&mut near).await).to_string(),
        3 => {
            let [length] = read(&mut near).await;
            let mut name = vec![0; length.into()];
            near.read_exact(&mut name).await.unwrap();
            String::from_utf8(name).unwrap()
        }
        other => panic!("{other} is not asked for here"),
    };
    let port = u16::from_be_bytes(read(&mut near).await);
    let mut far = TcpStream::connect((host, port)).await.unwrap();
    near.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
    let _ = copy_bidirectional(&mut near, &mut far).await;
}

#[tokio::test]
async fn a_socks_proxy_of_the_kubeconfig_file_is_used() {
    let server = start("orch").await;
    let (url, used) = socks_proxy().await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    write_kubeconfig(&path, &server, &json!({"proxy-url": url}), &json!({"token": "tok-bob"}));
    assert_eq!(name(&Settings::new().file(&path).client().unwrap(), &server).await.unwrap(), "bob");
    assert_eq!(used.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_name_in_the_certificate_is_the_one_that_was_asked_for() {
    let server = start("orch").await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    for (asked, is_right) in [("localhost", true), ("other.example.com", false)] {
        write_kubeconfig(&path, &server, &json!({"tls-server-name": asked}), &json!({"token": "tok-bob"}));
        let outcome = name(&Settings::new().file(&path).client().unwrap(), &server).await;
        assert_eq!(outcome.is_ok(), is_right, "{outcome:?}");
    }
}

#[tokio::test]
async fn several_files_make_one_configuration_and_files_are_as_good_as_data() {
    let server = start("orch").await;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let admin = server.kubeconfig();
    for (name, text) in [
        ("ca.crt", &admin.certificate_authority),
        ("admin.crt", &admin.client_certificate),
        ("admin.key", &admin.client_key),
    ] {
        fs::write(path(name), text).unwrap();
    }
    let cluster = json!({"server": server.url(), "certificate-authority": "ca.crt"});
    let users = json!([
        {"name": "admin", "user": {"client-certificate": "admin.crt", "client-key": "admin.key"}},
        {"name": "bob", "user": {"token": "tok-bob"}},
        {"name": "as-dave", "user": {"token": "tok-admin", "as": "dave"}},
    ]);
    let contexts: Vec<_> = ["admin", "bob", "as-dave"]
        .iter()
        .map(|user| json!({"name": user, "context": {"cluster": "c", "user": user}}))
        .collect();
    for (name, file) in [
        ("one", json!({"current-context": "", "clusters": [{"name": "c", "cluster": cluster}]})),
        ("two", json!({"users": users, "clusters": [{"name": "c", "cluster": {"server": "https://x"}}]})),
        ("three", json!({"current-context": "admin", "contexts": contexts})),
    ] {
        fs::write(path(name), file.to_string()).unwrap();
    }
    let settings = Settings::new().file(path("one")).file(path("two")).file(path("three"));
    for (context, expected) in
        [(None, "admin"), (Some("bob"), "bob"), (Some("as-dave"), "dave"), (Some("admin"), "admin")]
    {
        let settings = context.map_or(settings.clone(), |context| settings.clone().context(context));
        assert_eq!(name(&settings.client().unwrap(), &server).await.unwrap(), expected, "{context:?}");
    }
    let bob = settings.user("bob").client().unwrap();
    assert_eq!(name(&bob, &server).await.unwrap(), "bob");
}
