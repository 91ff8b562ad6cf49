//! Client certificates: any is accepted, if the client holds its key.

use std::sync::Arc;

use rustls::{crypto::aws_lc_rs, sign::CertifiedKey};
use tokio::io::AsyncReadExt;

use crate::{
    client::{Client, HTTP1},
    server::{describe, self_signed, serve},
};

#[tokio::test]
async fn any_client_certificate_reaches_the_handler() {
    let server = serve(|_| {}, describe).await;
    let (certificate, key) = self_signed();
    let known = CertifiedKey::from_der(vec![certificate], key, &aws_lc_rs::default_provider()).unwrap();
    let certificate = Some(Arc::new(known));
    for http2 in [false, true] {
        let client = Client { http2, certificate: certificate.clone() };
        let answer = server.open(client).await.get().await.unwrap();
        assert!(answer.ends_with(" some"), "{answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_client_certificate_without_its_key_is_refused() {
    let server = serve(|_| {}, describe).await;
    let ((certificate, _), (_, other_key)) = (self_signed(), self_signed());
    let other_key = aws_lc_rs::sign::any_supported_type(&other_key).unwrap();
    let certificate = Some(Arc::new(CertifiedKey::new(vec![certificate], other_key)));
    // TLS 1.3 clients see the refusal in their first read.
    let outcome = match server.connect(Client { certificate, ..HTTP1 }).await {
        Ok(mut stream) => stream.read_u8().await.map(drop),
        Err(error) => Err(error),
    };
    let error = outcome.unwrap_err();
    assert!(error.to_string().contains("DecryptError"), "{error}");
}
