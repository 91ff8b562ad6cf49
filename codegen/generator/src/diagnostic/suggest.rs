//! "Did you mean": the known word that is nearest to an unknown one.

/// What programmers call something that has another name in schemas.
const SYNONYMS: &[(&str, &str)] = &[
    ("int", "integer"),
    ("float", "number"),
    ("double", "number"),
    ("bool", "boolean"),
    ("str", "string"),
    ("list", "array"),
    ("map", "object"),
];

/// The best candidate, where one is near enough to be what was meant.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == word);
    if let Some(meant) = synonym.and_then(|(_, meant)| candidates.iter().find(|known| *known == meant)) {
        return Some(meant);
    }
    let limit = (word.chars().count() / 3).max(1);
    let mut best: Option<(usize, &'c str)> = None;
    for candidate in candidates {
        let distance = distance(&word.to_lowercase(), &candidate.to_lowercase());
        if distance <= limit && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// More candidates than this are not listed: the message would be too long to read.
const MAX_LISTED: usize = 20;

/// A remedy: the nearest candidate where there is one, else all of them.
pub fn did_you_mean(word: &str, candidates: &[&str]) -> String {
    if candidates.len() > MAX_LISTED && nearest(word, candidates.iter().copied()).is_none() {
        return "remove it: nothing known here is like it".to_owned();
    }
    meant_or_all(word, candidates)
}

/// The same for a value that has to be one of these, so that none of them can be left out.
pub fn meant_or_all(word: &str, candidates: &[&str]) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("known here: {}", listed(candidates)),
    }
}

/// `` `a`, `b` ``; `(none)` for nothing.
pub fn listed(words: &[&str]) -> String {
    if words.is_empty() {
        return "(none)".to_owned();
    }
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let mut cost = (last[j + 1] + 1).min(row[j] + 1).min(last[j] + usize::from(a != b));
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        for (from, to, expected) in
            [("", "", 0), ("", "ab", 2), ("ab", "", 2), ("type", "tpye", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(from, to), expected, "{from} {to}");
            assert_eq!(distance(to, from), expected, "{to} {from}");
        }
    }

    #[test]
    fn suggests_only_what_is_near() {
        let known = ["description", "default", "type"];
        assert_eq!(nearest("descripton", known), Some("description"));
        assert_eq!(nearest("TYPE", known), Some("type"));
        assert_eq!(nearest("frobnicate", known), None);
        assert_eq!(did_you_mean("zz", &["a", "b"]), "known here: `a`, `b`");
        assert_eq!(did_you_mean("zz", &["a"; 21]), "remove it: nothing known here is like it");
        assert!(meant_or_all("zz", &["a"; 21]).starts_with("known here: `a`, "));
        assert_eq!(did_you_mean("int", &["string", "integer"]), "did you mean `integer`?");
        assert_eq!(did_you_mean("int", &["a", "b"]), "known here: `a`, `b`");
    }
}
