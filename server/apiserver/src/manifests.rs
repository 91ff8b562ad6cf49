//! Files of manifests: documents of YAML, or JSON values one after the other; lists are taken apart.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use orch_config::start_error::StartError;
use orch_machinery::{json::Limits, yaml};
use orch_runtime::Tree;
use serde::de::IgnoredAny;

/// An object of a file.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Where it stands.
    pub place: Place,
    /// Its content.
    pub tree: Tree,
}

/// Where an object stands. Written as `file:line`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as it was named.
    pub file: Arc<str>,
    /// The first line of its document, from 1.
    pub line: usize,
    /// Which item of the document it is, from 0, where that is a list.
    pub item: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.line)?;
        self.item.map_or(Ok(()), |item| write!(out, ": items[{item}]"))
    }
}

/// The objects of these files, in order; `-` is stdin.
///
/// # Errors
/// Which file cannot be read, or what is wrong with it, with line and column.
pub fn read_all(files: &[PathBuf]) -> Result<Vec<Manifest>, StartError> {
    let mut manifests = Vec::new();
    for file in files {
        let text =
            if file == Path::new("-") { io::read_to_string(io::stdin()) } else { fs::read_to_string(file) };
        let name = file.display().to_string();
        let text =
            text.map_err(|error| StartError::configuration(&name, format_args!("cannot read it: {error}")))?;
        let read = manifests_of(&name, &text);
        manifests.extend(read.map_err(|fault| StartError::configuration(fault.0, fault.1))?);
    }
    Ok(manifests)
}

/// Where a file is wrong, `file:line:column`, and what is wrong there.
type Fault = (String, String);

fn manifests_of(file: &str, text: &str) -> Result<Vec<Manifest>, Fault> {
    let name: Arc<str> = file.into();
    let mut manifests = Vec::new();
    for document in documents(text).map_err(|problem| fault(file, 1, &problem))? {
        let fault = |problem: &str| fault(file, document.begin, problem);
        let read = yaml::decode(document.text.as_bytes(), &Limits::default());
        let mut read = read.map_err(|error| fault(&error.to_string()))?;
        if let Some(duplicate) = read.duplicates.first() {
            return Err(fault(duplicate));
        }
        let place = |item| Place { file: Arc::clone(&name), line: document.first_line(), item };
        match read.tree.get_mut("items").map(Tree::take) {
            Some(Tree::Array(items)) => {
                let items = items.into_iter().enumerate();
                manifests.extend(items.map(|(item, tree)| Manifest { place: place(Some(item)), tree }));
            }
            _ => manifests.push(Manifest { place: place(None), tree: read.tree }),
        }
    }
    Ok(manifests)
}

/// A part of a file.
struct Document {
    /// The line at which its text begins, from 1.
    begin: usize,
    text: String,
}

impl Document {
    /// The line of its content.
    fn first_line(&self) -> usize {
        self.begin + self.text.lines().take_while(|line| !has_content(line)).count()
    }
}

fn has_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

fn documents(text: &str) -> Result<Vec<Document>, String> {
    if text.trim_start().starts_with('{') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        let (mut documents, mut begin, mut line) = (Vec::new(), 0, 1);
        while let Some(value) = values.next() {
            value.map_err(|error| error.to_string())?;
            let text = text[begin..values.byte_offset()].to_owned();
            begin = values.byte_offset();
            let lines = text.matches('\n').count();
            documents.push(Document { begin: line, text });
            line += lines;
        }
        return Ok(documents);
    }
    let mut documents = vec![Document { begin: 1, text: String::new() }];
    for (line, text) in text.split_inclusive('\n').enumerate() {
        let marked = text.strip_prefix("---");
        let marked = marked.filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        match (marked, documents.last_mut()) {
            (Some(rest), _) => documents.push(Document { begin: line + 1, text: rest.to_owned() }),
            (None, Some(last)) => last.text.push_str(text),
            (None, None) => {}
        }
    }
    documents.retain(|document| document.text.lines().any(has_content));
    Ok(documents)
}

/// A fault of a document that begins at a line. Where the problem says at which line of the document it is,
/// that becomes the place.
fn fault(file: &str, begin: usize, problem: &str) -> Fault {
    let numbers = |text: &str| -> Vec<usize> {
        text.split(|ch: char| !ch.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
    };
    let told_at_the_end = problem.rsplit_once(" at line ").map(|(what, at)| (what, numbers(at)));
    let told_first = || {
        let (line, what) = problem.strip_prefix("line ")?.split_once(": ")?;
        Some((what, numbers(line)))
    };
    match told_at_the_end.or_else(told_first) {
        Some((what, numbers)) if matches!(numbers.len(), 1 | 2) => {
            let line = begin + numbers[0].max(1) - 1;
            let column = numbers.get(1).map(|column| format!(":{column}")).unwrap_or_default();
            (format!("{file}:{line}{column}"), what.to_owned())
        }
        _ => (format!("{file}:{begin}"), problem.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_yaml_and_of_json_are_taken_apart() {
        let names = |text: &str| -> Vec<String> {
            let read = manifests_of("f", text).unwrap();
            read.iter().map(|manifest| format!("{} {}", manifest.place, manifest.tree["a"])).collect()
        };
        assert_eq!(names(""), [""; 0]);
        assert_eq!(names("# nothing\n---\n---\n"), [""; 0]);
        assert_eq!(
            names("a: 1\n---\n\na: 2\n--- # more\n--- {a: 5}\n---\na: |\n  x\n  ---\n"),
            ["f:1 1", "f:4 2", "f:6 5", "f:8 \"x\\n---\\n\""]
        );
        assert_eq!(names("{\"a\": 1}\n{\"a\": 2}{\"a\":\n3}\n"), ["f:1 1", "f:2 2", "f:2 3"]);
        assert_eq!(
            names("kind: List\nitems:\n- a: 1\n- a: 2\n---\na: 3\n"),
            ["f:1: items[0] 1", "f:1: items[1] 2", "f:6 3"]
        );
    }

    #[test]
    fn a_fault_has_a_place() {
        for (text, place, problem) in [
            ("a: 1\n---\nb: 1\na: [\n", "f:4:4", "yaml: "),
            ("a: 1\n---\na: 1\na: 2\n", "f:4", "key \"a\" already set in map"),
            ("{\"a\": 1}\n{\"a\": ", "f:2:6", "EOF while parsing a value"),
        ] {
            let fault = manifests_of("f", text).unwrap_err();
            assert!(fault.0 == place && fault.1.starts_with(problem), "{text:?}: {fault:?}");
        }
    }
}
