//! Names of fields as expressions write them: those that are no names of the language are escaped, as in
//! `x-kubernetes-validations`.

/// Words that cannot be names of fields.
const RESERVED: &[&str] = &[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The name of a field in expressions; nothing for a name that cannot be escaped.
pub fn field(name: &str) -> Option<String> {
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let escaped = name
        .replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__");
    let is_name = escaped.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = escaped.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    (is_name && begins).then_some(escaped)
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn names_that_the_language_does_not_have_are_escaped() {
        for (name, escaped) in [
            ("replicas", Some("replicas")),
            ("namespace", Some("__namespace__")),
            ("x-kind", Some("x__dash__kind")),
            ("a.b/c", Some("a__dot__b__slash__c")),
            ("a__b", Some("a__underscores__b")),
            ("type", Some("type")),
            ("9lives", None),
            ("a b", None),
            ("", None),
        ] {
            assert_eq!(field(name).as_deref(), escaped, "{name}");
        }
    }
}
