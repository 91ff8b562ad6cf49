//! Rust source as tokens with their lines: enough to tell names, literals and comments apart, and product
//! code from tests.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or a keyword.
    Name,
    /// One character of punctuation.
    Sign,
    /// A string of any sort; its text is what stands between the quotes, escapes as written.
    Text,
    /// A comment of any sort; its text is the whole of it.
    Comment,
    /// A number, a character or a lifetime.
    Other,
}

/// A token, and the line that it begins on, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    pub kind: TokenKind,
    pub text: &'t str,
    pub line: usize,
}

impl Token<'_> {
    /// Whether it is this name.
    pub fn is_name(&self, name: &str) -> bool {
        self.kind == TokenKind::Name && self.text == name
    }

    /// Whether it is this character of punctuation.
    pub fn is_sign(&self, sign: &str) -> bool {
        self.kind == TokenKind::Sign && self.text == sign
    }
}

/// All tokens of a file, comments included.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            line += usize::from(first == '\n');
            at += first.len_utf8();
            continue;
        }
        let (kind, length, shown) = token(rest);
        tokens.push(Token { kind, text: &rest[shown], line });
        line += rest[..length].matches('\n').count();
        at += length;
    }
    tokens
}

/// The kind, the length and the shown part of the token that a text begins with.
fn token(rest: &str) -> (TokenKind, usize, std::ops::Range<usize>) {
    let whole = |kind, length| (kind, length, 0..length);
    if rest.starts_with("//") {
        return whole(TokenKind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return whole(TokenKind::Comment, block_comment(rest));
    }
    if let Some((length, shown)) = string(rest) {
        return (TokenKind::Text, length, shown);
    }
    let first = rest.chars().next().expect("the text is not empty");
    if first == '\'' {
        return whole(TokenKind::Other, quote(rest));
    }
    if first.is_alphanumeric() || first == '_' {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let kind = if first.is_ascii_digit() { TokenKind::Other } else { TokenKind::Name };
        return whole(kind, end);
    }
    whole(TokenKind::Sign, first.len_utf8())
}

/// The length of a comment that may hold others.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of a string literal, and where in it the text stands.
fn string(rest: &str) -> Option<(usize, std::ops::Range<usize>)> {
    let prefix = rest.find(|c| !matches!(c, 'b' | 'c' | 'r'))?;
    let (is_raw, body) = (rest[..prefix].ends_with('r'), &rest[prefix..]);
    let hashes = if is_raw { body.len() - body.trim_start_matches('#').len() } else { 0 };
    if prefix > 2 || !body[hashes..].starts_with('"') {
        return None;
    }
    let begin = prefix + hashes + 1;
    let length = if is_raw {
        rest[begin..].find(&format!("\"{}", "#".repeat(hashes)))
    } else {
        let mut is_escaped = false;
        rest[begin..].find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        })
    };
    let end = length.map_or(rest.len(), |length| begin + length);
    Some(((end + 1 + hashes).min(rest.len()), begin..end))
}

/// The length of a character, or of a lifetime.
fn quote(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            // The character behind the backslash may be a quote.
            chars.next();
            chars.find(|(_, c)| *c == '\'').map_or(rest.len(), |(at, _)| at + 1)
        }
        Some((_, first)) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ if first.is_alphanumeric() || first == '_' => {
                let name = rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_');
                name.map_or(rest.len(), |length| length + 1)
            }
            _ => 1,
        },
        None => 1,
    }
}

/// The tokens that are compiled into the product: without comments, and without items under `#[cfg(test)]`.
pub fn product_tokens(text: &str) -> Vec<Token<'_>> {
    let tokens: Vec<Token<'_>> =
        tokens(text).into_iter().filter(|token| token.kind != TokenKind::Comment).collect();
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_test = is_cfg_test(&tokens[at..]);
        if !is_test {
            kept.push(tokens[at]);
        }
        at = if is_test { end_of_item(&tokens, at + CFG_TEST.len()) } else { at + 1 };
    }
    kept
}

/// The names of the modules that a file declares under `#[cfg(test)]`, in files of their own.
pub fn test_modules(text: &str) -> Vec<&str> {
    let tokens: Vec<Token<'_>> =
        tokens(text).into_iter().filter(|token| token.kind != TokenKind::Comment).collect();
    let places = (0..tokens.len()).filter(|at| is_cfg_test(&tokens[*at..]));
    places
        .filter_map(|at| {
            let item = &tokens[at + CFG_TEST.len()..end_of_item(&tokens, at + CFG_TEST.len())];
            let name = item.iter().position(|token| token.is_name("mod"))? + 1;
            item.get(name + 1)?.is_sign(";").then(|| item[name].text)
        })
        .collect()
}

const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

fn is_cfg_test(tokens: &[Token<'_>]) -> bool {
    tokens.len() >= CFG_TEST.len() && tokens.iter().zip(CFG_TEST).all(|(token, text)| token.text == text)
}

/// Where the item that begins at a place ends: behind its `;`, behind the braces of its body, or, where it is
/// a field, behind its comma.
fn end_of_item(tokens: &[Token<'_>], begin: usize) -> usize {
    let sign = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token.is_sign(sign));
    let (mut depth, mut is_field) = (0, false);
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        match (token.kind, token.text) {
            (TokenKind::Sign, "{" | "(" | "[") => depth += 1,
            // The end of what the item is the last part of.
            (TokenKind::Sign, "}" | ")" | "]") if depth == 0 => return at,
            (TokenKind::Sign, close @ ("}" | ")" | "]")) => {
                depth -= 1;
                if depth == 0 && close == "}" && !is_field {
                    return at + 1;
                }
            }
            (TokenKind::Sign, ";") if depth == 0 => return at + 1,
            (TokenKind::Sign, ",") if depth == 0 && is_field => return at + 1,
            (TokenKind::Name, _) if depth == 0 && sign(at + 1, ":") && !sign(at + 2, ":") => {
                is_field |= tokens[begin..at].iter().all(|before| !is_keyword_of_item(before));
            }
            _ => {}
        }
    }
    tokens.len()
}

fn is_keyword_of_item(token: &Token<'_>) -> bool {
    const KEYWORDS: &[&str] =
        &["const", "enum", "fn", "impl", "let", "mod", "static", "struct", "trait", "type", "use"];
    token.kind == TokenKind::Name && KEYWORDS.contains(&token.text)
}

#[test]
fn tokens_are_told_apart() {
    use TokenKind::{Comment, Name, Other, Sign, Text};
    let text = r##"use a; // "no" string
/* one /* inner */ */ 'x' '\'' &'a b"b\"c" r#"raw " text"# 1_000 "two
lines" rest"##;
    let found: Vec<(TokenKind, &str, usize)> =
        tokens(text).into_iter().map(|token| (token.kind, token.text, token.line)).collect();
    assert_eq!(
        found,
        [
            (Name, "use", 1),
            (Name, "a", 1),
            (Sign, ";", 1),
            (Comment, r#"// "no" string"#, 1),
            (Comment, "/* one /* inner */ */", 2),
            (Other, "'x'", 2),
            (Other, r"'\''", 2),
            (Sign, "&", 2),
            (Other, "'a", 2),
            (Text, r#"b\"c"#, 2),
            (Text, r#"raw " text"#, 2),
            (Other, "1_000", 2),
            (Text, "two\nlines", 2),
            (Name, "rest", 3),
        ]
    );
}

#[test]
fn tests_are_no_product_code() {
    let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\npub(crate) mod fixture;\nfn kept() {}\n\
                #[cfg(test)]\nfn gone(a: [u8; 2]) { mod x {} }\n#[cfg(test)]\nmod inner { fn lost() {} }\n\
                struct Last { #[cfg(test)] #[x(y)] pub a: B<C, D>, e: F, #[cfg(test)] g: H }";
    let names: Vec<&str> = product_tokens(text)
        .iter()
        .filter(|token| token.kind == TokenKind::Name)
        .map(|token| token.text)
        .collect();
    assert_eq!(names, ["fn", "kept", "struct", "Last", "D", "e", "F"]);
    assert_eq!(test_modules(text), ["tests", "fixture"]);
}
