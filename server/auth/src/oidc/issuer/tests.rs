//! Claims, and the users that they make.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use orch_expression::types::Type;
use serde_json::{Value, json};

use super::{Issuer, Mapping};
use crate::{
    jwt::{Jwt, algorithm::Algorithm},
    oidc::{
        distributed::Distributed,
        mapping::{Source, uses_mail, uses_mail_verified},
        provider::{Place, Provider},
        rules::{ClaimRule, Rule, over_claims, over_user},
    },
};

fn issuer() -> Issuer {
    let authority = crate::testing::Authority::new("ca");
    let (_guard, file) = authority.file();
    let authorities = Some(std::fs::read(file).unwrap());
    let place = Place { issuer: "https://issuer.example".to_owned(), discovery_url: None, authorities };
    Issuer {
        provider: Provider::new(place).unwrap(),
        audiences: vec!["us".to_owned()],
        algorithms: vec![Algorithm::RS256],
        claim_rules: Vec::new(),
        mapping: Mapping { username: claim("sub", "oidc:"), groups: None, uid: None, extra: Vec::new() },
        user_rules: Vec::new(),
        credential_id_key: "authentication.example.io/credential-id".to_owned(),
        distributed: Distributed::default(),
    }
}

fn claim(claim: &str, prefix: &str) -> Source {
    Source::Claim { claim: claim.to_owned(), prefix: prefix.to_owned() }
}

fn expression(text: &str) -> Source {
    Source::Expression(over_claims(text, &Type::Dyn).unwrap())
}

fn rule(text: &str, message: &str) -> Rule {
    Rule { program: over_claims(text, &Type::Bool).unwrap(), message: message.to_owned() }
}

/// The user, or what is wrong; without a look at the signature.
fn user(issuer: &Issuer, claims: &Value) -> Result<String, String> {
    let encode = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
    let token = format!("{}.{}.", encode(r#"{"alg":"RS256"}"#), encode(&claims.to_string()));
    let token = Jwt::read(token.as_bytes()).unwrap();
    let user = issuer.mapped(&token, &token.claims)?;
    Ok(format!("{} {:?} {:?} {:?}", user.name, user.groups, user.uid, user.extra))
}

fn check(issuer: &Issuer, table: &[(Value, Result<&str, &str>)]) {
    for (claims, expected) in table {
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(user(issuer, claims), expected, "{claims}");
    }
}

#[test]
fn claims_make_the_user() {
    let mut issuer = issuer();
    issuer.mapping.groups = Some(claim("roles", "g:"));
    check(
        &issuer,
        &[
            (json!({"sub": "a"}), Ok("oidc:a [] \"\" {}")),
            (
                json!({"sub": "a", "jti": "7"}),
                Ok("oidc:a [] \"\" {\"authentication.example.io/credential-id\": [\"JTI=7\"]}"),
            ),
            (json!({"sub": "a", "roles": "r"}), Ok("oidc:a [\"g:r\"] \"\" {}")),
            (json!({"sub": "a", "roles": ["r", "s"]}), Ok("oidc:a [\"g:r\", \"g:s\"] \"\" {}")),
            (json!({"sub": "a", "roles": null}), Ok("oidc:a [] \"\" {}")),
            (
                json!({"sub": "a", "roles": 1}),
                Err("the claim \"roles\" is neither a text nor a list of texts"),
            ),
            (json!({"sub": "a", "roles": ["r", 1]}), Err("the claim \"roles\" is no list of texts")),
            (json!({"sub": "a", "_claim_names": {"other": "src1"}}), Ok("oidc:a [] \"\" {}")),
            (json!({}), Err("the claim \"sub\" is missing")),
            (json!({"sub": 1}), Err("the claim \"sub\" is no text")),
            (json!({"sub": ""}), Err("the claim \"sub\" is empty")),
        ],
    );
    issuer.mapping.username = claim("sub", "");
    issuer.mapping.uid = Some(claim("oid", ""));
    check(
        &issuer,
        &[
            (json!({"sub": "", "oid": "1"}), Err("the claim \"sub\" is empty")),
            (json!({"sub": "a", "oid": "1"}), Ok("a [] \"1\" {}")),
            (json!({"sub": "a"}), Err("the claim \"oid\" is missing")),
        ],
    );
}

/// OpenID Connect Core, section 5.1: an address that is not verified may be that of somebody else.
#[test]
fn mail_counts_where_the_issuer_knows_that_it_is_the_users() {
    let mut issuer = issuer();
    issuer.mapping.username = claim("email", "");
    let refused = Err("the claim \"email_verified\" is not true");
    check(
        &issuer,
        &[
            (json!({"email": "a@b"}), Ok("a@b [] \"\" {}")),
            (json!({"email": "a@b", "email_verified": true}), Ok("a@b [] \"\" {}")),
            (json!({"email": "a@b", "email_verified": false}), refused),
            (json!({"email": "a@b", "email_verified": "true"}), refused),
            (json!({"email": "a@b", "email_verified": null}), refused),
        ],
    );
    for (text, mail, verified) in [
        ("claims.email", true, false),
        ("claims['email']", true, false),
        ("claims[?'email'].orValue('')", true, false),
        ("claims.email_", false, false),
        ("claims.sub.email", false, false),
        ("has(claims.email_verified) && claims.email_verified ? claims.email : claims.sub", true, true),
        ("[1].map(x, claims.email)[0]", true, false),
    ] {
        let program = over_claims(text, &Type::Dyn).unwrap();
        assert_eq!((uses_mail(&program), uses_mail_verified(&program)), (mail, verified), "{text}");
    }
}

#[test]
fn expressions_make_the_user() {
    let mut issuer = issuer();
    issuer.mapping = Mapping {
        username: expression("claims.org + ':' + claims.sub"),
        groups: Some(expression("has(claims.roles) ? claims.roles.split(',') : dyn(null)")),
        uid: Some(expression("claims.oid")),
        extra: vec![
            ("a.example/tenant".to_owned(), over_claims("claims.tenant", &Type::Dyn).unwrap()),
            ("a.example/none".to_owned(), over_claims("['', '']", &Type::Dyn).unwrap()),
        ],
    };
    let base = json!({"sub": "a", "org": "o", "oid": "1", "tenant": "t"});
    let with = |field: &str, value: Value| {
        let mut claims = base.clone();
        claims[field] = value;
        claims
    };
    let extra = "{\"a.example/tenant\": [\"t\"]}";
    for (claims, expected) in [
        (base.clone(), Ok(format!("o:a [] \"1\" {extra}"))),
        (with("roles", json!("r,s,")), Ok(format!("o:a [\"r\", \"s\"] \"1\" {extra}"))),
        (with("oid", json!(1)), Err("the uid is of the type int, and not string".to_owned())),
        (
            with("tenant", json!(true)),
            Err("a.example/tenant: bool is neither string nor list(string)".to_owned()),
        ),
        (with("tenant", json!(["t", "u"])), {
            Ok("o:a [] \"1\" {\"a.example/tenant\": [\"t\", \"u\"]}".to_owned())
        }),
        (json!({"sub": "a"}), Err("\"claims.org + ':' + claims.sub\": 1:1: no such key: org".to_owned())),
    ] {
        assert_eq!(user(&issuer, &claims), expected, "{claims}");
    }
    issuer.mapping.username = expression("''");
    assert_eq!(user(&issuer, &base), Err("the name of the user is empty".to_owned()));
}

#[test]
fn rules_are_demands() {
    let mut issuer = issuer();
    issuer.claim_rules = vec![
        ClaimRule::Value { claim: "hd".to_owned(), required: "example.com".to_owned() },
        ClaimRule::Expression(rule("claims.exp - claims.nbf <= 3600", "lives too long")),
        ClaimRule::Expression(rule("claims.flag", "")),
    ];
    issuer.user_rules = vec![Rule {
        program: over_user("!user.username.startsWith('oidc:system:') && user.groups.size() == 0").unwrap(),
        message: "reserved".to_owned(),
    }];
    let base = json!({"sub": "a", "hd": "example.com", "exp": 3600, "nbf": 0, "flag": true});
    for (field, value, expected) in [
        ("sub", json!("a"), Ok("oidc:a [] \"\" {}")),
        ("hd", json!("other"), Err("the claim \"hd\" has another value than the required one")),
        ("hd", json!(["example.com"]), Err("the claim \"hd\" is no text")),
        ("exp", json!(3601), Err("lives too long")),
        ("flag", json!(false), Err("\"claims.flag\" does not hold")),
        ("flag", json!("true"), Err("\"claims.flag\" is of the type string")),
        ("sub", json!("system:admin"), Err("reserved")),
    ] {
        let mut claims = base.clone();
        claims[field] = value;
        assert_eq!(user(&issuer, &claims), expected.map(str::to_owned).map_err(str::to_owned), "{claims}");
    }
    over_user("user.name == ''").unwrap_err();
    over_user("user.username").unwrap_err();
    over_claims("user.username == ''", &Type::Bool).unwrap_err();
}

#[test]
fn expressions_about_a_token_are_bounded_together() {
    let mut issuer = issuer();
    let long = "claims.l.all(a, claims.l.all(b, claims.l.all(c, claims.l.all(d, a <= 10))))";
    issuer.claim_rules = (0..64).map(|_| ClaimRule::Expression(rule(long, ""))).collect();
    let error = user(&issuer, &json!({"sub": "a", "l": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]})).unwrap_err();
    assert!(error.contains("more steps"), "{error}");
}
