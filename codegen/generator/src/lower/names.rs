//! Names on the wire to names in Rust.

/// A field: `podIP` to `pod_ip`, `clusterIPs` to `cluster_ips`, `type` to `type_`.
pub fn field(wire: &str) -> String {
    let words: Vec<String> = words(wire).iter().map(|word| word.to_lowercase()).collect();
    identifier(words.join("_"))
}

/// An enum's variants, in the order of the values; all different.
pub fn variants(values: &[&str]) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for value in values {
        let base = variant(value);
        let mut name = base.clone();
        let mut number = 2;
        while taken.contains(&name) {
            name = format!("{base}{number}");
            number += 1;
        }
        taken.push(name);
    }
    taken
}

/// Whether a word can name a hand-written Rust function: lower-case letters, digits and single underscores.
pub fn is_function(word: &str) -> bool {
    let characters =
        word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    characters && word.starts_with(|first: char| first.is_ascii_lowercase()) && !KEYWORDS.contains(&word)
}

/// Whether a word can name a Rust type: CamelCase in ASCII.
pub fn is_type(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A variant: `ReadWriteOnce` as it is, `pod-only` to `PodOnly`, the empty string to `Empty`.
fn variant(value: &str) -> String {
    if value.is_empty() {
        return "Empty".to_owned();
    }
    let pieces = value.split(|ch: char| !ch.is_ascii_alphanumeric()).filter(|piece| !piece.is_empty());
    let name: String = pieces.map(capitalized).collect();
    match name.as_bytes().first() {
        None if value == "*" => "Any".to_owned(),
        None => "Symbol".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("Value{name}"),
        Some(_) if name == "Self" => "Self_".to_owned(),
        Some(_) => name,
    }
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// Splits a name at its humps. A run of capitals is one word (`IP`), up to its last capital where a small
/// letter follows (`IP`, `Family`), except that the `s` of a plural belongs to the run (`IPs`, `URLs`).
fn words(wire: &str) -> Vec<String> {
    let chars: Vec<char> = wire.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (index, ch) in chars.iter().copied().enumerate() {
        if !ch.is_ascii_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        if starts_word(&chars, index) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.push(ch);
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn starts_word(chars: &[char], index: usize) -> bool {
    let at = |index: usize| chars.get(index).copied();
    let upper = |index: usize| at(index).is_some_and(|ch| ch.is_ascii_uppercase());
    let lower = |index: usize| at(index).is_some_and(|ch| ch.is_ascii_lowercase());
    if index == 0 || !upper(index) {
        return false;
    }
    let after_capital = upper(index - 1);
    let ends_plural = |s: usize| at(s) == Some('s') && !lower(s + 1);
    // Inside a run of capitals, only the capital that begins a word of small letters starts one.
    !after_capital || (lower(index + 1) && !ends_plural(index + 1))
}

/// Makes a word that is a Rust identifier out of one that may be a keyword, empty or begin with a digit.
fn identifier(word: String) -> String {
    if word.is_empty() || word.starts_with(|first: char| first.is_ascii_digit()) {
        format!("_{word}")
    } else if KEYWORDS.contains(&word.as_str()) {
        format!("{word}_")
    } else {
        word
    }
}

/// Words that Rust has taken, in lower case.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        for (wire, rust) in [
            ("name", "name"),
            ("podIP", "pod_ip"),
            ("podIPs", "pod_ips"),
            ("nonResourceURLs", "non_resource_urls"),
            ("clusterIPs", "cluster_ips"),
            ("serverAddressByClientCIDRs", "server_address_by_client_cidrs"),
            ("targetWWNs", "target_wwns"),
            ("ipFamilyPolicy", "ip_family_policy"),
            ("IPFamily", "ip_family"),
            ("IPsAllowed", "ips_allowed"),
            ("seLinuxOptions", "se_linux_options"),
            ("apiGroup", "api_group"),
            ("externalID", "external_id"),
            ("configKey2", "config_key2"),
            ("type", "type_"),
            ("self", "self_"),
            ("$ref", "ref_"),
            ("x-pod.name", "x_pod_name"),
            ("9lives", "_9lives"),
        ] {
            assert_eq!(field(wire), rust, "{wire}");
        }
    }

    #[test]
    fn variants_are_unique_identifiers() {
        let values = ["", "ReadWriteOnce", "pod-only", "podOnly", "*", "10", "Self", "==", "a.b/c"];
        let names =
            ["Empty", "ReadWriteOnce", "PodOnly", "PodOnly2", "Any", "Value10", "Self_", "Symbol", "ABC"];
        assert_eq!(variants(&values), names);
    }

    #[test]
    fn functions_and_types() {
        assert!(is_function("check_ports2") && !is_function("checkPorts") && !is_function("fn"));
        assert!(!is_function("") && !is_function("_a") && !is_function("a-b"));
        assert!(is_type("Widget") && !is_type("widget") && !is_type("A_B") && !is_type(""));
    }
}
