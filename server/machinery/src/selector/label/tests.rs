//! Tests of label selectors: the grammar, the error messages, which labels are selected.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn selects(selector: &LabelSelector, labels: &[(&str, &'static str)]) -> bool {
    selector.matches(|key| labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value))
}

#[test]
fn selects_by_every_operator() {
    let prod: &[_] = &[("env", "prod"), ("tier", "front"), ("n", "5")];
    let bare: &[_] = &[("tier", "back"), ("example.com/x", "")];
    // selector, canonical text, selects prod, selects bare
    let cases = [
        ("", "", true, true),
        (" ", "", true, true),
        ("env=prod", "env=prod", true, false),
        ("env == prod", "env==prod", true, false),
        ("env!=prod", "env!=prod", false, true),
        ("env in (prod, dev)", "env in (dev,prod)", true, false),
        ("env notin (prod)", "env notin (prod)", false, true),
        ("env", "env", true, false),
        ("!env", "!env", false, true),
        ("tier=back,!env", "!env,tier=back", false, true),
        ("example.com/x=", "example.com/x=", false, true),
        ("example.com/x in ()", "example.com/x in ()", false, true),
        ("example.com/x in (,a)", "example.com/x in (,a)", false, true),
        ("env in (a,)", "env in (,a)", false, false),
        ("env in (a,,b)", "env in (,a,b)", false, false),
        ("env notin (in, notin)", "env notin (in,notin)", true, true),
        ("env=in", "env=in", false, false),
        ("n>4,n<6", "n>4,n<6", true, false),
        ("n>5", "n>5", false, false),
        ("env>1", "env>1", false, false),
        ("in,notin", "in,notin", false, false),
    ];
    for (text, canonical, in_prod, in_bare) in cases {
        let selector = LabelSelector::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(selector.to_string(), canonical, "{text}");
        assert_eq!((selects(&selector, prod), selects(&selector, bare)), (in_prod, in_bare), "{text}");
    }
}

#[test]
fn errors_have_the_words_of_the_reference() {
    let qualified = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and \
                     end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex \
                     used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let cases = [
        ("env=>x", "unable to parse requirement: found '>', expected: identifier"),
        ("env in prod", "unable to parse requirement: found 'prod' expected: '('"),
        ("env in", "unable to parse requirement: found '' expected: '('"),
        ("env=a b", "found 'b', expected: ',' or 'end of string'"),
        ("env=prod,,", "found ',', expected: identifier after ','"),
        ("env,", "found '', expected: identifier after ','"),
        (",env", "found ',', expected: !, identifier, or 'end of string'"),
        ("(env)", "found '(', expected: !, identifier, or 'end of string'"),
        ("!,", "unable to parse requirement: found ',', expected: identifier"),
        ("!env=x", "found '=', expected: ',' or 'end of string'"),
        ("a!b", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"),
        ("a in (,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        (
            "a>x",
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the \
             value must be an integer",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(LabelSelector::parse(text).unwrap_err().to_string(), expected, "{text}");
    }
    assert_eq!(
        LabelSelector::parse("-env=x").unwrap_err().to_string(),
        format!("unable to parse requirement: <nil>: Invalid value: \"-env\": {qualified}")
    );
    let bad_value = LabelSelector::parse("env=-x").unwrap_err().to_string();
    assert!(
        bad_value.starts_with("unable to parse requirement: values[0][env]: Invalid value: \"-x\": "),
        "{bad_value}"
    );
    let two = LabelSelector::parse("env in (-x,-y)").unwrap_err().to_string();
    assert!(
        two.starts_with("unable to parse requirement: [values[0][env]: Invalid value: \"-x\": "),
        "{two}"
    );
    assert!(two.contains(", values[1][env]: Invalid value: \"-y\": "), "{two}");
}

#[test]
fn a_single_value_is_required_exactly() {
    let pins = [
        ("a=x", Some("x")),
        ("a==x", Some("x")),
        ("a in (x)", Some("x")),
        ("a in (x,y)", None),
        ("a!=x", None),
    ];
    for (text, pinned) in pins {
        assert_eq!(LabelSelector::parse(text).unwrap().requires_exact("a"), pinned, "{text}");
        assert_eq!(LabelSelector::parse(text).unwrap().requires_exact("b"), None, "{text}");
    }
}

proptest! {
    #[test]
    fn the_canonical_text_reads_as_the_same_selector(text in "[ab!=<>(), in1]{0,16}") {
        if let Ok(selector) = LabelSelector::parse(&text) {
            let again = LabelSelector::parse(&selector.to_string()).unwrap();
            prop_assert_eq!(again, selector);
        }
    }

    #[test]
    fn equality_and_inequality_are_opposites(
        labels in prop::collection::btree_map("[ab]", "[xy]", 0..3), key in "[ab]", value in "[xy]",
    ) {
        let labels: BTreeMap<String, String> = labels;
        let holds = |text: String| {
            LabelSelector::parse(&text).unwrap().matches(|key| labels.get(key).map(String::as_str))
        };
        prop_assert_ne!(holds(format!("{key}={value}")), holds(format!("{key}!={value}")));
        prop_assert_ne!(holds(key.clone()), holds(format!("!{key}")));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,40}") {
        let _ = LabelSelector::parse(&text);
    }
}
