//! What holds a credential cannot be printed, not by mistake either.

use std::{fmt::Debug, marker::PhantomData};

use orch_auth::{
    authenticator::{Credentials, bearer::Token, token_file::TokenFileAuthenticator},
    service_account::{SigningKey, TokenIssuer},
};
use orch_outbound::target::Credential;

/// Of the two traits below, the first one is taken where the type has `Debug`, and the second otherwise.
struct Probe<T>(PhantomData<T>);

trait Printable {
    fn is_printable(&self) -> bool {
        true
    }
}

trait Unprintable {
    fn is_printable(&self) -> bool {
        false
    }
}

impl<T: Debug> Printable for Probe<T> {}
impl<T> Unprintable for &Probe<T> {}

macro_rules! printable {
    ($($type:ty),* $(,)?) => {
        [$((stringify!($type), (&Probe::<$type>(PhantomData)).is_printable())),*]
    };
}

#[test]
fn credentials_cannot_be_printed() {
    let secret = printable![
        Token<'static>,
        Credentials<'static>,
        TokenFileAuthenticator,
        SigningKey,
        TokenIssuer,
        Credential,
    ];
    for (name, is_printable) in secret {
        assert!(!is_printable, "{name} has Debug");
    }
    assert_eq!(printable![String], [("String", true)]);
}
