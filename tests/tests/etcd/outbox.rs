//! A proxy between a server and etcd. It holds back what the server sends until it is told to pass it on, and
//! shows what that is; what comes from etcd is passed on at once.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

/// A running proxy.
pub struct Outbox {
    /// Where the server reaches it.
    pub url: String,
    holds: Arc<watch::Sender<bool>>,
    held: Held,
}

/// What is held back, of all connections.
type Held = Arc<Mutex<Vec<u8>>>;

impl Outbox {
    /// One that passes everything on to `url`.
    pub async fn before(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let own = format!("http://{}", listener.local_addr().expect("it has an address"));
        let behind = url.trim_start_matches("http://").to_owned();
        let (holds, held) = (Arc::new(watch::Sender::new(false)), Held::default());
        let (told, shared) = (Arc::clone(&holds), Arc::clone(&held));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, behind.clone(), told.subscribe(), Arc::clone(&shared)));
            }
        });
        Outbox { url: own, holds, held }
    }

    /// Holds back what comes from now on.
    pub fn hold(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.holds.send_replace(true);
    }

    /// Passes on what was held back, and what comes from now on.
    pub fn release(&self) {
        self.holds.send_replace(false);
    }

    /// Whether this is in what is held back.
    pub fn holds(&self, text: &str) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.windows(text.len()).any(|window| window == text.as_bytes())
    }
}

async fn pass(client: TcpStream, behind: String, holds: watch::Receiver<bool>, held: Held) {
    let Ok(server) = TcpStream::connect(behind).await else { return };
    let ((from_client, mut to_client), (mut from_server, to_server)) =
        (client.into_split(), server.into_split());
    tokio::select! {
        () = send(from_client, to_server, holds, held) => {}
        _ = copy(&mut from_server, &mut to_client) => {}
    }
}

async fn send(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut holds: watch::Receiver<bool>, held: Held) {
    let (mut buffer, mut waiting) = (vec![0; 64 << 10], Vec::new());
    loop {
        tokio::select! {
            read = from.read(&mut buffer) => {
                let Ok(count @ 1..) = read else { return };
                waiting.extend_from_slice(&buffer[..count]);
                if *holds.borrow() {
                    held.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..count]);
                }
            }
            changed = holds.changed() => if changed.is_err() { return },
        }
        if !*holds.borrow_and_update() {
            if to.write_all(&waiting).await.is_err() {
                return;
            }
            waiting.clear();
        }
    }
}
