//! Pages as a list of blocks, and their two forms.

use std::fmt::Write as _;

/// The form of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables of GitHub's dialect.
    Markdown,
    /// Whole documents, without scripts.
    Html,
}

impl Format {
    /// The ending of files.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Markdown => "md",
            Format::Html => "html",
        }
    }
}

/// A page.
pub(super) struct Page {
    pub title: String,
    pub blocks: Vec<Block>,
}

/// A part of a page.
pub(super) enum Block {
    Heading(u8, String),
    Text(String),
    /// Heads, and rows of cells.
    Table(Vec<&'static str>, Vec<Vec<Vec<Inline>>>),
}

/// A part of a line.
#[derive(Clone, Debug)]
pub(super) enum Inline {
    Text(String),
    Code(String),
    /// A text and where it leads.
    Link(String, String),
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;width:100%}td,th{border:1px solid #ccc;padding:.3rem .6rem;text-align:left;\
vertical-align:top}code{background:#f3f3f3}";

impl Page {
    pub fn text(&self, format: Format) -> String {
        match format {
            Format::Markdown => self.blocks.iter().map(markdown).collect::<Vec<_>>().join("\n"),
            Format::Html => format!(
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n\
                 <style>{STYLE}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
                escaped(&self.title),
                self.blocks.iter().map(html).collect::<String>()
            ),
        }
    }
}

/// The text of a cell alone.
pub(super) fn plain(cell: &[Inline]) -> String {
    let texts = cell.iter().map(|part| match part {
        Inline::Text(text) | Inline::Code(text) | Inline::Link(text, _) => text.as_str(),
    });
    texts.collect()
}

fn markdown(block: &Block) -> String {
    match block {
        Block::Heading(level, text) => format!("{} {text}\n", "#".repeat(usize::from(*level))),
        Block::Text(text) => format!("{}\n", cell_text(text)),
        Block::Table(heads, rows) => {
            let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            let mut out = line(heads.iter().map(ToString::to_string).collect());
            out += &line(heads.iter().map(|_| "---".to_owned()).collect());
            for row in rows {
                let cell = |parts: &Vec<Inline>| {
                    let parts = parts.iter().map(|part| match part {
                        Inline::Text(text) => cell_text(text),
                        Inline::Code(text) => format!("`{}`", text.replace('|', "\\|")),
                        Inline::Link(text, target) => format!("[{text}]({target})"),
                    });
                    parts.collect::<String>()
                };
                out += &line(row.iter().map(cell).collect());
            }
            out
        }
    }
}

/// A text in one line, in which nothing but code is markup.
fn cell_text(text: &str) -> String {
    let text = text.replace('\n', " ");
    let parts = text.split('`').enumerate().map(|(index, part)| {
        if index % 2 == 1 {
            return part.replace('|', "\\|");
        }
        let is_markup = |ch: char| matches!(ch, '|' | '*' | '_' | '<' | '[' | '\\');
        part.chars().flat_map(|ch| is_markup(ch).then_some('\\').into_iter().chain([ch])).collect()
    });
    parts.collect::<Vec<String>>().join("`")
}

fn html(block: &Block) -> String {
    match block {
        Block::Heading(1, text) => format!("<h1>{}</h1>\n", escaped(text)),
        Block::Heading(level, text) => {
            format!("<h{level} id=\"{}\">{}</h{level}>\n", escaped(&text.to_lowercase()), escaped(text))
        }
        Block::Text(text) => format!("<p>{}</p>\n", prose(text)),
        Block::Table(heads, rows) => {
            let mut out = format!("<table>\n<tr><th>{}</th></tr>\n", heads.join("</th><th>"));
            for row in rows {
                out.push_str("<tr>");
                for cell in row {
                    let parts = cell.iter().map(|part| match part {
                        Inline::Text(text) => prose(text),
                        Inline::Code(text) => format!("<code>{}</code>", escaped(text)),
                        Inline::Link(text, target) => {
                            format!("<a href=\"{}\">{}</a>", escaped(target), escaped(text))
                        }
                    });
                    let _ = write!(out, "<td>{}</td>", parts.collect::<String>());
                }
                out.push_str("</tr>\n");
            }
            out + "</table>\n"
        }
    }
}

/// A text with code between backquotes.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| {
        if index % 2 == 1 { format!("<code>{}</code>", escaped(part)) } else { escaped(part) }
    });
    parts.collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_becomes_markup() {
        let block = Block::Table(vec!["A"], vec![vec![vec![Inline::Text("<b> *x* a|b `<c|d>`".to_owned())]]]);
        assert_eq!(markdown(&block), "| A |\n| --- |\n| \\<b> \\*x\\* a\\|b `<c\\|d>` |\n");
        let expected = "<td>&lt;b&gt; *x* a|b <code>&lt;c|d&gt;</code></td>";
        assert!(html(&block).contains(expected), "{}", html(&block));
    }
}
