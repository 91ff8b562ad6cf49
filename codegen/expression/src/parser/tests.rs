//! What is refused, and where; how large expressions may be.

use super::parse;
use crate::limits::Limits;

fn problem(text: &str) -> String {
    match parse(text, &Limits::default()) {
        Ok(node) => format!("{node:?}"),
        Err(failure) => failure.in_text(text).to_string(),
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (text, expected) in [
        ("", "1:1: expected a term, found the end"),
        ("1 +", "1:4: expected a term, found the end"),
        ("a\n  && )", "2:6: expected a term, found \")\""),
        ("a b", "1:3: expected an operator or the end, found \"b\""),
        ("f(1", "1:4: expected \")\", found the end"),
        ("'abc", "1:1: a text is not closed"),
        ("'a\nb'", "1:1: a text is not closed in its line"),
        ("'\\q'", "1:2: unknown escape"),
        ("'\\ud800'", "1:2: not a valid escape"),
        ("9223372036854775808", "1:1: the number is too large for int"),
        ("18446744073709551616u", "1:1: the number is too large for uint"),
        ("a < 1e999", "1:5: the number is too large for double"),
        ("1 # 2", "1:3: unexpected character '#'"),
        ("has(a)", "1:5: has() takes a field, as in has(a.b)"),
        ("a.all(b.c, true)", "1:7: expected the name of a variable"),
        ("a.all(b, b, true)", "1:10: the two variables need different names"),
        ("for", "1:1: \"for\" is a reserved word"),
        ("a.true", "1:3: expected a name, found \"true\""),
        ("`a`", "1:1: expected a term, found `a`"),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
}

#[test]
fn size_and_nesting_are_bounded() {
    let nested = |count: usize| "(".repeat(count) + "1" + &")".repeat(count);
    let long = |count: usize| vec!["a"; count].join(" + ");
    let wide = |count: usize| vec!["a"; count].join(" || ");
    for (text, expected) in [
        (nested(80), None),
        (nested(150), Some("nested deeper than 100 levels")),
        (nested(20_000), Some("nested deeper than 100 levels")),
        ("[".repeat(30_000), Some("nested deeper than 100 levels")),
        ("-".repeat(30_000) + "a", None),
        ("a?a:".repeat(10_000), Some("nested deeper than 100 levels")),
        ("a".to_owned() + &".b".repeat(10_000), Some("nested deeper than 100 levels")),
        (long(80), None),
        (long(5_000), Some("nested deeper than 100 levels")),
        (wide(5_000), None),
        (wide(12_000), Some("more than 10000 terms")),
        (" ".repeat(70_000), Some("longer than 65536 bytes")),
    ] {
        let found = parse(&text, &Limits::default()).map_err(|failure| failure.in_text(&text).to_string());
        let start: String = text.chars().take(20).collect();
        match expected {
            None => assert!(found.is_ok(), "{start}: {found:?}"),
            Some(expected) => assert!(found.is_err_and(|error| error.contains(expected)), "{start}"),
        }
    }
}
