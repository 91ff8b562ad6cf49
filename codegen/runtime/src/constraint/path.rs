//! Paths of files.

use super::unless;

/// A path that begins with a slash.
pub fn absolute_path(value: &str) -> Vec<String> {
    unless(value.starts_with('/'), "must be an absolute path")
}

/// A path of which no part is `..`.
pub fn inner_path(value: &str) -> Vec<String> {
    unless(!has_backstep(value), "must not contain '..'")
}

/// A path that does not begin with a slash, and of which no part is `..`.
pub fn relative_path(value: &str) -> Vec<String> {
    let mut faults = unless(!value.starts_with('/'), "must be a relative path");
    faults.extend(inner_path(value));
    faults
}

/// A relative path whose first name does not begin with two dots: volumes use such names themselves.
pub fn file_path(value: &str) -> Vec<String> {
    let mut faults = relative_path(value);
    // Of a first name that is `..` and not all of the path, the fault is told already.
    let is_reserved = value.starts_with("..") && !value.starts_with("../");
    faults.extend(unless(!is_reserved, "must not start with '..'"));
    faults
}

fn has_backstep(value: &str) -> bool {
    value.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let rooted = "must be a relative path";
        let (backstep, reserved) = ("must not contain '..'", "must not start with '..'");
        let table: &[(&str, &[&str], &[&str])] = &[
            ("a/b", &[], &[]),
            ("", &[], &[]),
            ("a..b", &[], &[]),
            ("/a", &[rooted], &[rooted]),
            ("../a", &[backstep], &[backstep]),
            ("/..", &[rooted, backstep], &[rooted, backstep]),
            ("..a", &[], &[reserved]),
            ("..", &[backstep], &[backstep, reserved]),
            ("..a/../b", &[backstep], &[backstep, reserved]),
        ];
        for (text, relative, file) in table {
            assert_eq!(relative_path(text), *relative, "{text}");
            assert_eq!(file_path(text), *file, "{text}");
        }
        assert_eq!(absolute_path("a"), ["must be an absolute path"]);
        assert!(absolute_path("/a").is_empty());
        assert_eq!(inner_path("a/.."), [backstep]);
    }
}
