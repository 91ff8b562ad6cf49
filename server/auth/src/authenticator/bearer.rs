//! The `Authorization: Bearer <token>` header.

/// The warning for clients that put two spaces after the scheme.
pub const MISPLACED_SPACE_WARNING: &str =
    "the provided Authorization header contains extra space before the bearer token, and is ignored";

/// Longer tokens are not looked at: nobody makes such tokens, but reviews can hold them.
pub(crate) const MAX_TOKEN: usize = 64 * 1024;

/// A bearer token. There is no `Debug` and no `Display`, so that it is never shown.
#[derive(Clone, Copy)]
pub struct Token<'a>(&'a [u8]);

impl<'a> Token<'a> {
    /// The secret itself.
    pub fn secret(self) -> &'a [u8] {
        self.0
    }
}

/// The bearer token of an `Authorization` header, if there is one.
#[derive(Clone, Copy)]
pub enum Bearer<'a> {
    /// No bearer token: another scheme, or nothing after the scheme.
    Absent,
    /// A second space after the scheme. The header counts as having no token; the client gets a warning.
    MisplacedSpace,
    /// A token, never empty.
    Token(Token<'a>),
}

impl<'a> Bearer<'a> {
    /// Reads the value of the header. The scheme is not case-sensitive (RFC 9110, section 11.1). A space
    /// after the token ends it; what follows is ignored.
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
    fn headers_are_parsed() {
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
