//! Errors in schema files: where, what, and how to mend it.
//!
//! Every stage adds to one [`Diagnostics`]; nothing stops at the first mistake. Rendered, each shows file,
//! line, column, the offending line and a remedy, the same from a build script as from the command line.

pub mod machine;
mod render;
pub mod suggest;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

/// A place in a schema file. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The file, as it was opened.
    pub file: Arc<PathBuf>,
    /// First line.
    pub line: usize,
    /// First column.
    pub column: usize,
    /// Number of characters to underline, at least 1.
    pub length: usize,
}

impl Span {
    /// A file as a whole: its first character.
    pub fn whole_file(file: &Path) -> Self {
        Span { file: Arc::new(file.to_path_buf()), line: 1, column: 1, length: 1 }
    }
}

/// How bad it is. Errors sort before warnings at the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The schema is refused.
    Error,
    /// The schema is accepted, and probably not what was meant.
    Warning,
}

/// One thing that is wrong, or questionable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Where.
    pub span: Span,
    /// How bad.
    pub severity: Severity,
    /// What, in one line.
    pub message: String,
    /// The remedy, in one line.
    pub help: String,
    /// What kind of fault it is: `E0121`, which [`crate::explain`] explains. Empty until it is known.
    pub code: &'static str,
    /// Another place that has to do with it, and what is there.
    pub related: Option<(Span, String)>,
}

impl Diagnostic {
    /// Says what kind of fault it is.
    pub fn code(&mut self, code: &'static str) {
        self.code = code;
    }

    /// Adds another place that has to do with it, and what is there.
    pub fn related(&mut self, span: &Span, what: &str) -> &mut Self {
        self.related = Some((span.clone(), what.to_owned()));
        self
    }
}

/// Everything found so far, and the text of the files to quote from.
#[derive(Debug, Default)]
pub struct Diagnostics {
    sources: BTreeMap<PathBuf, Arc<str>>,
    items: Vec<Diagnostic>,
    /// Files of which only the beginning can be read.
    cut: BTreeSet<PathBuf>,
}

impl Diagnostics {
    /// Remembers the text of a file, so that its lines can be quoted.
    pub fn add_source(&mut self, file: &Path, text: Arc<str>) {
        self.sources.insert(file.to_path_buf(), text);
    }

    /// Remembers that only the beginning of a file can be read: nobody knows what the rest declares.
    pub fn cut_off(&mut self, file: &Path) {
        self.cut.insert(file.to_path_buf());
    }

    /// The files of which only the beginning can be read.
    pub fn cut_files(&self) -> impl Iterator<Item = &Path> {
        self.cut.iter().map(PathBuf::as_path)
    }

    /// The text of a file as it is shared, where it is remembered.
    pub fn shared_source(&self, file: &Path) -> Option<Arc<str>> {
        self.sources.get(file).cloned()
    }

    /// The text of a file, where it is remembered.
    pub fn source(&self, file: &Path) -> Option<&str> {
        self.sources.get(file).map(AsRef::as_ref)
    }

    /// Adds an error. Every error says how to mend it, and has a code: given here, or by [`Self::under`].
    pub fn error(
        &mut self,
        span: &Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> &mut Diagnostic {
        self.push(span, Severity::Error, message.into(), help.into())
    }

    /// Adds a warning.
    pub fn warning(
        &mut self,
        span: &Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> &mut Diagnostic {
        self.push(span, Severity::Warning, message.into(), help.into())
    }

    /// Runs a rule, and gives its code to what it finds.
    pub fn under(&mut self, code: &'static str, rule: impl FnOnce(&mut Self)) {
        let before = self.items.len();
        rule(self);
        for item in self.items[before..].iter_mut().filter(|item| item.code.is_empty()) {
            item.code(code);
        }
    }

    /// Drops what is only questionable.
    pub fn forget_warnings(&mut self) {
        self.items.retain(|item| item.severity == Severity::Error);
    }

    /// Whether the schema is refused.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|item| item.severity == Severity::Error)
    }

    /// Whether nothing at all was found.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Everything found, in the order of files, lines and columns, each once.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut items: Vec<&Diagnostic> = self.items.iter().collect();
        items.sort();
        items.dedup();
        items
    }

    /// The number of distinct errors and of distinct warnings.
    pub fn counts(&self) -> (usize, usize) {
        let items = self.sorted();
        let errors = items.iter().filter(|item| item.severity == Severity::Error).count();
        (errors, items.len() - errors)
    }

    /// Everything found, as text for people; empty where nothing was found.
    pub fn render(&self) -> String {
        self.sorted().into_iter().map(|item| self.render_one(item)).collect::<Vec<_>>().join("\n")
    }

    /// One diagnostic as text, with the line that it is about.
    pub fn render_one(&self, item: &Diagnostic) -> String {
        render::render(item, &|file| self.source(file))
    }

    /// Adds what was found elsewhere.
    pub fn add(&mut self, item: Diagnostic) {
        self.items.push(item);
    }

    /// Takes over everything from another collection.
    pub fn append(&mut self, other: Diagnostics) {
        self.sources.extend(other.sources);
        self.cut.extend(other.cut);
        self.items.extend(other.items);
    }

    fn push(&mut self, span: &Span, severity: Severity, message: String, help: String) -> &mut Diagnostic {
        self.items.push(Diagnostic { span: span.clone(), severity, message, help, code: "", related: None });
        self.items.last_mut().expect("it has just been added")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(line: usize) -> Span {
        Span { line, ..Span::whole_file(Path::new("a.yaml")) }
    }

    #[test]
    fn sorts_and_reports_each_mistake_once() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.warning(&span(1), "w", "h");
        assert!(!diagnostics.has_errors());
        for line in [3, 2, 3] {
            diagnostics.error(&span(line), "e", "h");
        }
        assert!(diagnostics.has_errors());
        assert_eq!(diagnostics.counts(), (2, 1));
        let lines: Vec<usize> = diagnostics.sorted().iter().map(|item| item.span.line).collect();
        assert_eq!(lines, [1, 2, 3]);
    }
}
