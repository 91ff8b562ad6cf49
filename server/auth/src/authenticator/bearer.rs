//! The `Authorization: Bearer <token>` header.

/// Told to clients that put two spaces after the scheme.
pub const MISPLACED_SPACE_WARNING: &str =
    "the provided Authorization header contains extra space before the bearer token, and is ignored";

/// A bearer token. It is compared and hashed, never shown: there is no `Debug` and no `Display`.
#[derive(Clone, Copy)]
pub struct Token<'a>(&'a [u8]);

impl<'a> Token<'a> {
    /// The secret itself.
    pub fn secret(self) -> &'a [u8] {
        self.0
    }
}

/// What an `Authorization` header says about bearer tokens.
#[derive(Clone, Copy)]
pub enum Bearer<'a> {
    /// Nothing: another scheme, or no token after it.
    Absent,
    /// A second space stands where the token should begin; existing clients rely on this counting as no token.
    MisplacedSpace,
    /// A token, never empty.
    Token(Token<'a>),
}

impl<'a> Bearer<'a> {
    /// Reads the header's value. The scheme is compared without regard to case; what follows a space after the
    /// token is ignored.
    pub fn parse(value: &'a [u8]) -> Self {
        let mut parts = value.trim_ascii().splitn(3, |&byte| byte == b' ');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(scheme), Some(token), rest) if scheme.eq_ignore_ascii_case(b"bearer") => {
                match (token.is_empty(), rest) {
                    (false, _) => Self::Token(Token(token)),
                    (true, Some(_)) => Self::MisplacedSpace,
                    (true, None) => Self::Absent,
                }
            }
            _ => Self::Absent,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Bearer;

    fn read(value: &str) -> Result<&[u8], &'static str> {
        match Bearer::parse(value.as_bytes()) {
            Bearer::Token(token) => Ok(token.secret()),
            Bearer::Absent => Err("absent"),
            Bearer::MisplacedSpace => Err("misplaced space"),
        }
    }

    #[test]
    fn headers_are_read_as_clients_expect() {
        for (value, expected) in [
            ("Bearer abc", Ok("abc")),
            ("bearer abc", Ok("abc")),
            ("BEARER abc", Ok("abc")),
            ("  Bearer abc  ", Ok("abc")),
            ("Bearer abc def ghi", Ok("abc")),
            ("Bearer a=b.c", Ok("a=b.c")),
            ("Bearer", Err("absent")),
            ("Bearer ", Err("absent")),
            ("Bearer   ", Err("absent")),
            ("Bearer  abc", Err("misplaced space")),
            ("Bearer   abc", Err("misplaced space")),
            ("Bearerabc", Err("absent")),
            ("Bearer\tabc", Err("absent")),
            ("Basic Ym9iOnB3", Err("absent")),
            ("", Err("absent")),
            (" ", Err("absent")),
        ] {
            assert_eq!(read(value), expected.map(str::as_bytes), "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn any_token_without_spaces_comes_back(token in "[!-~]{1,40}", rest in "( [ -~]{0,10})?") {
            let header = format!("Bearer {token}{rest}");
            prop_assert_eq!(read(&header), Ok(token.as_bytes()));
        }

        #[test]
        fn a_token_is_never_empty(value in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Bearer::Token(token) = Bearer::parse(&value) {
                prop_assert!(!token.secret().is_empty());
            }
        }
    }
}
