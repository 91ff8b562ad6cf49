//! A proxy between a store and etcd, which fails as it is told. Also a part of the tests of whole servers.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What happens to connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything is passed on.
    Open,
    /// What the store sends is passed on, and nothing comes back.
    Mute,
    /// Connections are cut, new ones too.
    Cut,
    /// New connections, but for the first one of all, bring nothing beside so many frames of data, and that
    /// they live. Those that there are stay as they are, also when everything is passed on again.
    #[allow(dead_code, reason = "not all tests that include this do it")]
    Silent(u8),
    /// Connections are cut. New ones pass everything on a while later.
    Slow,
}

/// How much later.
const DELAY: Duration = Duration::from_millis(60);

/// A running proxy.
pub struct Proxy {
    /// Where the store reaches it.
    pub url: String,
    mode: Arc<watch::Sender<Mode>>,
}

impl Proxy {
    /// One that passes everything on to `url`.
    pub async fn start(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let own = format!("http://{}", listener.local_addr().expect("it has an address"));
        let (mode, behind) =
            (Arc::new(watch::Sender::new(Mode::Open)), url.trim_start_matches("http://").to_owned());
        let modes = Arc::clone(&mode);
        tokio::spawn(async move {
            let mut is_first = true;
            while let Ok((client, _)) = listener.accept().await {
                let mode = modes.subscribe();
                let frames = match *mode.borrow() {
                    Mode::Silent(frames) if !is_first => Some(frames),
                    _ => None,
                };
                is_first = false;
                tokio::spawn(pass(client, behind.clone(), mode, frames));
            }
        });
        Self { url: own, mode }
    }

    /// From now on.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// Cuts every connection, new ones too. Nothing is on its way any more when this returns.
    pub async fn cut_off(&self) {
        self.set(Mode::Cut);
        // Each connection holds receivers while something may pass.
        self.mode.closed().await;
    }

    /// Cuts every connection once.
    pub fn cut(&self) {
        self.set(Mode::Cut);
        self.set(Mode::Open);
    }
}

async fn pass(client: TcpStream, behind: String, mut mode: watch::Receiver<Mode>, frames: Option<u8>) {
    if *mode.borrow_and_update() == Mode::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(behind).await else { return };
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let (there, back) = (mode.clone(), mode.clone());
    tokio::select! {
        () = copy(from_client, to_server, there, false) => {}
        () = async {
            match frames {
                None => copy(from_server, to_client, back, true).await,
                Some(frames) => copy_frames(from_server, to_client, frames).await,
            }
        } => {}
        () = ended(mode) => {}
    }
}

/// Returns when a connection is cut. A cut may be over before it is seen, so every change but one to silence,
/// or back from it, is one.
async fn ended(mut mode: watch::Receiver<Mode>) {
    let mut before = *mode.borrow_and_update();
    while mode.changed().await.is_ok() {
        let now = *mode.borrow_and_update();
        match (before, now) {
            (_, Mode::Mute | Mode::Silent(_)) | (Mode::Silent(_), Mode::Open) => before = now,
            _ => return,
        }
    }
}

/// Passes on the frames of HTTP/2 (RFC 9113, section 4.1), but of those with data only so many.
async fn copy_frames(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut data: u8) {
    const HEAD: usize = 9;
    const DATA: u8 = 0;
    let mut frame = vec![0; HEAD];
    while from.read_exact(&mut frame[..HEAD]).await.is_ok() {
        let length = u32::from_be_bytes([0, frame[0], frame[1], frame[2]]) as usize;
        frame.resize(HEAD + length, 0);
        if from.read_exact(&mut frame[HEAD..]).await.is_err() {
            return;
        }
        if frame[3] == DATA {
            let Some(left) = data.checked_sub(1) else { continue };
            data = left;
        }
        if to.write_all(&frame).await.is_err() {
            return;
        }
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mode: watch::Receiver<Mode>,
    is_back: bool,
) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let mode = *mode.borrow();
        if mode == Mode::Slow {
            tokio::time::sleep(DELAY).await;
        }
        if !(is_back && mode == Mode::Mute) && to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
