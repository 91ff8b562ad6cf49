//! Objects that a server starts with: from the YAML files of `seed/` to JSON. A server reads them at each
//! start, and JSON is read in a tenth of the time.
//!
//! What they hold is known to those who read them. Unlike schema files they may have anchors and aliases.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::Value;

use crate::emit::GeneratedFile;

/// Why a file of the seed cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// It, or the folder, cannot be read.
    #[error("cannot read {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// It is not YAML. The place is said by the parser.
    #[error("{} is not valid YAML", .0.display())]
    Syntax(PathBuf, #[source] saphyr::ScanError),
    /// It has what JSON has not, or not one document.
    #[error("{} is not one document that JSON can say", .0.display())]
    NotJson(PathBuf),
}

/// One file `seed/<name>.json` for each `<name>.yaml` of a folder.
pub(crate) fn files(folder: &Path) -> Result<Vec<GeneratedFile>, SeedError> {
    let unreadable = |error| SeedError::Unreadable(folder.to_owned(), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if let (Some(name), Some("yaml")) = (path.file_stem(), path.extension().and_then(|end| end.to_str()))
        {
            let text =
                fs::read_to_string(&path).map_err(|error| SeedError::Unreadable(path.clone(), error))?;
            let text = read(&path, &text)?.to_string();
            files.push(GeneratedFile { path: format!("seed/{}.json", name.display()), text });
        }
    }
    Ok(files)
}

fn read(path: &Path, text: &str) -> Result<Value, SeedError> {
    let documents = Yaml::load_from_str(text).map_err(|error| SeedError::Syntax(path.to_owned(), error))?;
    let value = match documents.as_slice() {
        [document] => json(document),
        _ => None,
    };
    value.ok_or_else(|| SeedError::NotJson(path.to_owned()))
}

/// `None` for what JSON cannot say.
fn json(yaml: &Yaml<'_>) -> Option<Value> {
    match yaml {
        Yaml::Value(Scalar::Null) => Some(Value::Null),
        Yaml::Value(Scalar::Boolean(value)) => Some((*value).into()),
        Yaml::Value(Scalar::Integer(value)) => Some((*value).into()),
        Yaml::Value(Scalar::String(text)) => Some(text.as_ref().into()),
        Yaml::Sequence(items) => items.iter().map(json).collect(),
        Yaml::Mapping(entries) => {
            let entry = |(key, value): (&Yaml<'_>, _)| Some((key.as_str()?.to_owned(), json(value)?));
            entries.iter().map(entry).collect::<Option<_>>().map(Value::Object)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn aliases_are_written_out() {
        let text = "read: &read [get, list]\nrules:\n  - {verbs: *read, n: -1, on: true, none: null}\n";
        let value = read(Path::new("a.yaml"), text).unwrap();
        let rules = json!([{"verbs": ["get", "list"], "n": -1, "on": true, "none": null}]);
        assert_eq!(value, json!({"read": ["get", "list"], "rules": rules}));
    }

    #[test]
    fn what_json_cannot_say_is_told_with_the_file() {
        for (text, told) in [
            ("a: [", "a.yaml is not valid YAML"),
            ("a: 1\na: 2\n", "a.yaml is not valid YAML"),
            ("[1]: a\n", "a.yaml is not one document that JSON can say"),
            ("a: .inf\n", "a.yaml is not one document that JSON can say"),
            ("a: 1\n---\nb: 2\n", "a.yaml is not one document that JSON can say"),
        ] {
            assert_eq!(read(Path::new("a.yaml"), text).unwrap_err().to_string(), told, "{text}");
        }
    }
}
