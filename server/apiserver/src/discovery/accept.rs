//! Which form of a discovery document a request accepts.

use http::{HeaderMap, header};

/// A form that a document can be answered in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `application/json` without further parameters.
    Plain,
    /// The offered media type of that index.
    Offered(usize),
}

/// JSON as the parameters of a media type shape it: `as=<kind>;g=<group>;v=<version>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) group: String,
    pub(super) version: &'static str,
}

/// What a request may ask for besides the offered shapes.
pub(super) fn plain_types() -> Vec<String> {
    vec!["application/json".to_owned()]
}

/// The form that `Accept` prefers; `None` where it accepts nothing that exists.
pub(super) fn choose(request: &HeaderMap, offered: &[Shape]) -> Option<Form> {
    let header: Vec<&str> =
        request.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let header = header.join(",");
    let mut clauses: Vec<Clause<'_>> =
        header.split(',').map(str::trim).filter(|clause| !clause.is_empty()).map(Clause::parse).collect();
    if clauses.is_empty() {
        return Some(Form::Plain);
    }
    clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    clauses.iter().filter(|clause| clause.quality > 0.0).find_map(|clause| clause.form(offered))
}

struct Clause<'a> {
    media_type: &'a str,
    kind: &'a str,
    group: &'a str,
    version: &'a str,
    quality: f32,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let mut clause = Clause { media_type, kind: "", group: "", version: "", quality: 1.0 };
        for (name, value) in parts.filter_map(|parameter| parameter.split_once('=')) {
            match name.trim() {
                "as" => clause.kind = value.trim(),
                "g" => clause.group = value.trim(),
                "v" => clause.version = value.trim(),
                "q" => clause.quality = value.trim().parse().unwrap_or(0.0),
                _ => {}
            }
        }
        clause
    }

    fn form(&self, offered: &[Shape]) -> Option<Form> {
        if !matches!(self.media_type, "application/json" | "*/*") {
            return None;
        }
        if self.kind.is_empty() {
            return Some(Form::Plain);
        }
        let matches = |shape: &Shape| {
            shape.kind == self.kind && shape.group == self.group && shape.version == self.version
        };
        offered.iter().position(matches).map(Form::Offered)
    }
}
