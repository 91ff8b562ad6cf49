//! Files that are right, and what is refused, with its place.

use orch_runtime::vocabulary::EXAMPLE;

use super::{AuthenticationFile, Issuers, parse};
use crate::anonymous::Anonymous;

const OWN: &str = "https://own.example";

fn read(text: &str, before: &Issuers) -> Result<AuthenticationFile, String> {
    let read = parse(text, &[OWN.to_owned()], before, &EXAMPLE);
    read.map_err(|((line, column), problem)| format!("{line}:{column}: {problem}"))
}

fn file(rest: &str) -> String {
    format!("apiVersion: apiserver.config.example.io/v1beta1\nkind: AuthenticationConfiguration\n{rest}")
}

/// One issuer; the first line of `rest` is the seventh of the file.
fn issuer(rest: &str) -> String {
    // Authorities of its own, because a machine need not have any.
    let authority = crate::testing::Authority::new("ca");
    let (_guard, path) = authority.file();
    let pem = std::fs::read_to_string(path).unwrap().replace('\n', "\\n");
    file(&format!("jwt:\n- issuer:\n    url: https://a.example\n    certificateAuthority: \"{pem}\"\n{rest}"))
}

/// One issuer with these mappings and rules, which begin in the tenth line.
fn with_claims(rest: &str) -> String {
    issuer(&format!(
        "    audiences: [us]\n  claimMappings:\n    username: {{claim: sub, prefix: \"\"}}\n{rest}"
    ))
}

#[test]
fn right_files_are_read() {
    let text = with_claims(
        "    groups: {expression: \"claims.roles.split(',')\"}\n    uid: {claim: oid}\n    extra:\n    \
         - {key: a.example/tenant, valueExpression: claims.tenant}\n  claimValidationRules:\n  \
         - {claim: hd, requiredValue: a}\n  - {expression: claims.exp > 0, message: no}\n  \
         userValidationRules:\n  - {expression: \"user.username != 'root'\"}\n",
    );
    let read_file = read(&text, &Issuers::new()).ok().unwrap();
    let issuer = &read_file.issuers["https://a.example"];
    assert_eq!((issuer.claim_rules.len(), issuer.user_rules.len()), (2, 1));
    assert_eq!(issuer.audiences, ["us"]);
    assert_eq!(read_file.anonymous, None);
    // Keys that are known are kept where the place is the same.
    let again = read(&text, &read_file.issuers).ok().unwrap();
    assert_eq!(again.issuers["https://a.example"].provider.place(), issuer.provider.place());
    for (text, expected) in [
        ("", None),
        ("jwt: []\n", None),
        ("anonymous: {enabled: false}\n", Some(Anonymous::Nowhere)),
        ("anonymous: {enabled: true}\n", Some(Anonymous::Everywhere)),
        (
            "anonymous:\n  enabled: true\n  conditions: [{path: /livez}, {path: /readyz}]\n",
            Some(Anonymous::At(vec!["/livez".to_owned(), "/readyz".to_owned()])),
        ),
    ] {
        let read_file = read(&file(text), &Issuers::new()).ok().unwrap();
        assert_eq!(read_file.anonymous, expected, "{text}");
        assert!(read_file.issuers.is_empty());
    }
    let v1 = file("").replace("v1beta1", "v1");
    assert!(read(&v1, &Issuers::new()).is_ok());
}

/// What was found otherwise than expected.
#[derive(Default)]
struct Check(Vec<String>);

impl Check {
    /// Reads a file; the fault begins with this text, and is one line.
    fn file(&mut self, text: &str, expected: &str) {
        let found = read(text, &Issuers::new()).err().unwrap_or_else(|| "fine".to_owned());
        if !found.starts_with(expected) || found.lines().count() != 1 {
            self.0
                .push(format!("{found}\ninstead of {expected}\n{}", text.lines().last().unwrap_or_default()));
        }
    }

    fn done(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n\n"));
    }
}

#[test]
fn wrong_files_are_refused_with_a_place() {
    let mut check = Check::default();
    for (rest, expected) in [
        ("jwt: {}\n", "3:6: "),
        ("jtw: []\n", "3:1: unknown field `jtw`"),
        ("jwt: [\n", "3:6: unclosed bracket"),
        ("anonymous: {}\n", "3:12: missing field `enabled`"),
        ("anonymous: {enabled: maybe}\n", "3:22: "),
        (
            "anonymous: {enabled: false, conditions: [{path: /a}]}\n",
            "3:22: enabled must be true where there are conditions",
        ),
        ("anonymous: {enabled: true, conditions: [{path: a}]}\n", "3:48: path must begin with /"),
        ("anonymous: {enabled: true, conditions: [{paths: /a}]}\n", "3:42: unknown field `paths`"),
    ] {
        check.file(&file(rest), expected);
    }
    let versions = "\"apiserver.config.example.io/v1\" or \"apiserver.config.example.io/v1beta1\"";
    check.file(&file("").replace("v1beta1", "v9"), &format!("1:13: apiVersion must be {versions}"));
    check.file(&file("").replace("Authe", "authe"), "2:7: kind must be \"AuthenticationConfiguration\"");
    check.file("", "1:1: ");
    check.done();
}

#[test]
fn wrong_issuers_are_refused_with_a_place() {
    let mut check = Check::default();
    let mappings = "  claimMappings: {username: {claim: sub, prefix: \"\"}}\n";
    for (issuer_part, expected) in [
        ("", "5:5: missing field `audiences`"),
        ("    audiences: []\n", "5:5: audiences must not be empty"),
        ("    audiences: [\"\"]\n", "7:17: an audience must not be empty"),
        ("    audiences: [a, a]\n", "7:20: there are two audiences \"a\""),
        ("    audiences: [a, b]\n", "5:5: audienceMatchPolicy must be \"MatchAny\" for several audiences"),
        (
            "    audiences: [a]\n    audienceMatchPolicy: All\n",
            "8:26: audienceMatchPolicy must be \"MatchAny\"",
        ),
        (
            "    audiences: [a]\n    discoveryURL: http://b.example\n",
            "8:19: discoveryURL must begin with https://",
        ),
        (
            "    audiences: [a]\n    discoveryURL: https://a.example/\n",
            "8:19: discoveryURL must not be the url",
        ),
        (
            "    audiences: [a]\n    egressSelectorType: cluster\n",
            "8:25: egressSelectorType cannot be set: this server calls issuers directly",
        ),
    ] {
        check.file(&issuer(&format!("{issuer_part}{mappings}")), expected);
    }
    let right = issuer(&format!("    audiences: [a]\n{mappings}"));
    for (url, expected) in [
        ("http://a.example", "5:10: url must begin with https://"),
        ("\"\"", "5:10: url must not be empty"),
        ("https://u:p@a.example", "5:10: url must not contain a username or password"),
        (OWN, "5:10: url must not be that of the server's own service account tokens"),
        ("https://a b", "5:10: url must not contain blanks or control characters"),
    ] {
        check.file(&right.replace("https://a.example", url), expected);
    }
    let begin = right.find("\"-----").unwrap();
    let end = begin + 1 + right[begin + 1..].find('"').unwrap();
    for (pem, expected) in [
        ("text", "6:27: certificateAuthority: there is no certificate"),
        ("-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----\\n", "6:27: certificateAuthority: "),
    ] {
        check.file(&format!("{}\"{pem}\"{}", &right[..begin], &right[end + 1..]), expected);
    }
    let entry = right.split_once("jwt:\n").unwrap().1;
    check.file(&format!("{right}{entry}"), "10:10: there are two issuers with the url \"https://a.example\"");
    let many: String =
        (0..65).map(|number| entry.replace("a.example", &format!("a{number}.example"))).collect();
    check.file(&file(&format!("jwt:\n{many}")), "324:3: there are more than 64 issuers");
    check.done();
}

#[test]
fn wrong_claims_are_refused_with_a_place() {
    let mut check = Check::default();
    let (rule, mapping) = ("  claimValidationRules:\n", "");
    for (begin, rest, expected) in [
        (rule, "  - {}\n", "11:5: exactly one of claim and expression must be given"),
        (rule, "  - {claim: a, expression: b}\n", "11:5: exactly one of claim and expression must be given"),
        (rule, "  - {claim: a, message: b}\n", "11:25: message cannot stand beside claim"),
        (
            rule,
            "  - {expression: 'true', requiredValue: b}\n",
            "11:41: requiredValue cannot stand beside expression",
        ),
        (rule, "  - {claim: a}\n  - {claim: a}\n", "12:13: there are two rules about \"a\""),
        (
            rule,
            "  - {expression: claims.a + 1}\n",
            "11:18: expression:1:1: the expression has the type int, and not bool",
        ),
        (rule, "  - {expression: user.a}\n", "11:18: expression:1:1: undeclared name \"user\""),
        (rule, "  - {expression: 'claims.('}\n", "11:18: expression:1:8: "),
        (rule, "  - {expression: ' '}\n", "11:18: expression must not be empty"),
        (
            "  userValidationRules:\n",
            "  - {expression: user.name == ''}\n",
            "11:18: expression:1:1: UserInfo has no field \"name\"",
        ),
        (
            "  userValidationRules:\n",
            "  - {expression: 'true'}\n  - {expression: 'true'}\n",
            "12:18: the same expression stands here twice",
        ),
        (mapping, "    groups: {claim: a}\n", "10:13: prefix must be given where claim is"),
        (mapping, "    groups: {expression: a.b}\n", "10:26: expression:1:1: undeclared name \"a\""),
        (
            mapping,
            "    groups: {expression: claims.a, prefix: x}\n",
            "10:44: prefix cannot stand beside expression",
        ),
        (mapping, "    uid: {}\n", "10:10: exactly one of claim and expression must be given"),
        (mapping, "    uid: {claim: a, prefix: b}\n", "10:21: unknown field `prefix`"),
        (mapping, "    extra: [{key: a.example/b}]\n", "10:13: missing field `valueExpression`"),
    ] {
        check.file(&with_claims(&format!("{begin}{rest}")), expected);
    }
    for (key, expected) in [
        ("tenant", "10:19: key must be a domain and a path"),
        ("A_b/c", "10:19: key begins with what is no domain"),
        ("a.example/B", "10:19: key must be in lower case"),
        ("a.example/", "10:19: key has a path that is empty"),
        ("\"a.example/ü\"", "10:19: key has a path that is empty or has characters"),
        ("a.example.io/b", "10:19: key must not be in the domain example.io"),
        ("example.io/b", "10:19: key must not be in the domain example.io"),
        ("an-example.io/b", "fine"),
    ] {
        check.file(
            &with_claims(&format!("    extra: [{{key: {key}, valueExpression: claims.a}}]\n")),
            expected,
        );
    }
    let twice =
        "    extra: [{key: a.b/c, valueExpression: claims.a}, {key: a.b/c, valueExpression: claims.a}]\n";
    check.file(&with_claims(twice), "10:60: there are two keys \"a.b/c\"");
    check.done();
}

#[test]
fn names_that_are_addresses_of_mail_are_verified() {
    let named = |name: &str, rest: &str| {
        let mappings =
            with_claims(rest).replace("{claim: sub, prefix: \"\"}", &format!("{{expression: {name}}}"));
        read(&mappings, &Issuers::new()).err().unwrap_or_else(|| "fine".to_owned())
    };
    let refused = "9:15: claims.email_verified must be used in claimMappings.username.expression or ";
    let found = named("claims.email", "");
    assert!(found.starts_with(refused), "{found}");
    for (name, rest) in [
        ("claims.sub", ""),
        ("'claims.email_verified ? claims.email : claims.sub'", ""),
        ("claims.email", "    extra: [{key: a.b/c, valueExpression: claims.email_verified}]\n"),
        (
            "claims.email",
            "  claimValidationRules: [{expression: 'claims.?email_verified.orValue(true) == true'}]\n",
        ),
    ] {
        assert_eq!(named(name, rest), "fine", "{name} {rest}");
    }
}
