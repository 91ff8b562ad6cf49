//! Writes trees as YAML, byte for byte like the reference server: blocks indented by two spaces, lists on the
//! level of their names, names in natural order, scalars in the plainest style that is read as the same text,
//! lines folded after 80 columns.

use std::cmp::Ordering;

use orch_runtime::{Tree, TreeMap};

use super::scalar::{Style, style};

/// Text is folded at the first space after this column.
const WIDTH: usize = 80;

/// Names of up to this many bytes stand before a colon. Longer ones, and names with line breaks, stand after
/// a question mark.
const MAX_SIMPLE_NAME: usize = 128;

/// The name of a merge of maps in YAML 1.1. As a normal name it must be quoted.
const MERGE: &str = "<<";
const QUOTED_MERGE: &str = "\"<<\"";

/// The characters that end a line in some reader.
const LINE_ENDS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// The indentation of an inner block.
const STEP: usize = 2;

/// Writes a tree as a document.
pub fn encode(tree: &Tree) -> String {
    let mut writer = Writer::default();
    match tree {
        Tree::Object(map) if !map.is_empty() => writer.map(map, 0),
        Tree::Array(items) if !items.is_empty() => writer.list(items, 0),
        leaf => writer.leaf(leaf, STEP),
    }
    writer.finish()
}

/// Writes a tree as an item of a list at the left margin.
pub fn encode_item(tree: &Tree) -> String {
    let mut writer = Writer::default();
    writer.put('-');
    writer.beside(tree, 0);
    writer.finish()
}

#[derive(Default)]
struct Writer {
    out: String,
    /// The number of characters in the current line.
    column: usize,
}

impl Writer {
    fn finish(mut self) -> String {
        if self.column > 0 {
            self.put('\n');
        }
        self.out
    }

    fn put(&mut self, ch: char) {
        self.out.push(ch);
        self.column = if ch == '\n' { 0 } else { self.column + 1 };
    }

    fn put_all(&mut self, text: &str) {
        text.chars().for_each(|ch| self.put(ch));
    }

    /// Begins a line with this indentation.
    fn line(&mut self, indent: usize) {
        if self.column > 0 {
            self.put('\n');
        }
        (0..indent).for_each(|_| self.put(' '));
    }

    /// Writes entries in lines with this indentation. The first one begins at the current position.
    fn map(&mut self, map: &TreeMap, indent: usize) {
        let mut entries: Vec<(&String, &Tree)> = map.iter().collect();
        entries.sort_by(|(a, _), (b, _)| natural_order(a, b));
        for (position, (name, value)) in entries.into_iter().enumerate() {
            if position > 0 {
                self.line(indent);
            }
            if name.len() <= MAX_SIMPLE_NAME && !name.contains(LINE_ENDS) {
                if name == MERGE {
                    self.put_all(QUOTED_MERGE);
                } else {
                    self.scalar(name, indent + STEP, Width::Whatever);
                }
                self.put(':');
                self.below(value, indent);
            } else {
                self.put_all("? ");
                self.scalar(name, indent + STEP, Width::Folded);
                self.line(indent);
                self.put(':');
                self.beside(value, indent);
            }
        }
    }

    /// Writes items in lines with this indentation. The first one begins at the current position.
    fn list(&mut self, items: &[Tree], indent: usize) {
        for (position, item) in items.iter().enumerate() {
            if position > 0 {
                self.line(indent);
            }
            self.put('-');
            self.beside(item, indent);
        }
    }

    /// Writes the value of a name. Blocks begin on the next line.
    fn below(&mut self, value: &Tree, indent: usize) {
        match value {
            Tree::Object(map) if !map.is_empty() => {
                self.line(indent + STEP);
                self.map(map, indent + STEP);
            }
            Tree::Array(items) if !items.is_empty() => {
                self.line(indent);
                self.list(items, indent);
            }
            leaf => {
                self.put(' ');
                self.leaf(leaf, indent + STEP);
            }
        }
    }

    /// Writes the value after `-` or `?`. Blocks begin on the same line.
    fn beside(&mut self, value: &Tree, indent: usize) {
        self.put(' ');
        match value {
            Tree::Object(map) if !map.is_empty() => self.map(map, indent + STEP),
            Tree::Array(items) if !items.is_empty() => self.list(items, indent + STEP),
            leaf => self.leaf(leaf, indent + STEP),
        }
    }

    /// Writes a single value. Its further lines have this indentation.
    fn leaf(&mut self, value: &Tree, indent: usize) {
        match value {
            Tree::Null => self.put_all("null"),
            Tree::Bool(value) => self.put_all(if *value { "true" } else { "false" }),
            Tree::Number(number) => self.put_all(&number_text(number)),
            Tree::String(text) => self.scalar(text, indent, Width::Folded),
            Tree::Array(_) => self.put_all("[]"),
            Tree::Object(_) => self.put_all("{}"),
        }
    }

    fn scalar(&mut self, text: &str, indent: usize, width: Width) {
        match style(text) {
            Style::Plain => self.spaced(text, 0..text.len(), indent, width, Writer::put),
            Style::Single => {
                self.put('\'');
                let inner = 1..text.len() - 1;
                self.spaced(text, inner, indent, width, |writer, ch| {
                    if ch == '\'' {
                        writer.put(ch);
                    }
                    writer.put(ch);
                });
                self.put('\'');
            }
            Style::Double => self.double_quoted(text, indent, width),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Writes text that may be folded at single spaces of `inner`; a space at which a line is folded is left
    /// out.
    fn spaced(
        &mut self,
        text: &str,
        inner: std::ops::Range<usize>,
        indent: usize,
        width: Width,
        put: impl Fn(&mut Writer, char),
    ) {
        let mut after_space = false;
        for (position, ch) in text.char_indices() {
            let is_space = ch == ' ';
            let is_single = is_space && !after_space && !text[position + 1..].starts_with(' ');
            if is_single && self.is_full(width) && inner.contains(&position) {
                self.line(indent);
            } else {
                put(self, ch);
            }
            after_space = is_space;
        }
    }

    fn double_quoted(&mut self, text: &str, indent: usize, width: Width) {
        self.put('"');
        let mut after_space = false;
        for (position, ch) in text.char_indices() {
            let is_inner = position > 0 && position + 1 < text.len();
            if ch == ' ' && !after_space && is_inner && self.is_full(width) {
                self.line(indent);
                if text[position + 1..].starts_with(' ') {
                    self.put('\\');
                }
            } else {
                self.put_all(&escaped(ch));
            }
            after_space = ch == ' ';
        }
        self.put('"');
    }

    /// Writes text line by line. The header says how it is indented, if its first line does not show that,
    /// and how it ends.
    fn literal(&mut self, text: &str, indent: usize) {
        self.put('|');
        if text.starts_with([' ', '\n']) {
            self.put_all(&STEP.to_string());
        }
        match text.strip_suffix('\n') {
            None => self.put('-'),
            Some(rest) if rest.is_empty() || rest.ends_with('\n') => self.put('+'),
            Some(_) => {}
        }
        self.put('\n');
        for line in text.split_inclusive('\n') {
            if line != "\n" {
                self.line(indent);
            }
            self.put_all(line);
        }
    }

    fn is_full(&self, width: Width) -> bool {
        matches!(width, Width::Folded) && self.column > WIDTH
    }
}

/// Whether long text is folded.
#[derive(Clone, Copy)]
enum Width {
    Folded,
    Whatever,
}

/// Writes a character inside double quotes.
fn escaped(ch: char) -> String {
    let short = match ch {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ if super::scalar::is_printable(ch) => return ch.to_string(),
        _ => {
            let code = u32::from(ch);
            return match code {
                0..=0xFF => format!("\\x{code:02X}"),
                0x100..=0xFFFF => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{short}")
}

/// Writes a number: integers in full, others with an exponent if it is below -4 or above 5.
fn number_text(number: &serde_json::Number) -> String {
    let Some(value) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').expect("this form has an exponent");
    let exponent: i32 = exponent.parse().expect("exponents are small integers");
    if (-4..=5).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Compares names in natural order: numbers by value, letters after all other characters.
fn natural_order(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some(at) = a.iter().zip(&b).position(|(a, b)| a != b) else { return a.len().cmp(&b.len()) };
    let (left, right) = (a[at], b[at]);
    if left.is_alphabetic() || right.is_alphabetic() {
        return left.is_alphabetic().cmp(&right.is_alphabetic()).then(left.cmp(&right));
    }
    // A zero counts only inside a number: `10` is greater than `9`, and `01` equals `1`.
    let digits_before = a[..at].iter().rev().take_while(|ch| ch.is_ascii_digit());
    let is_within_number = (left == '0' || right == '0') && digits_before.clone().any(|digit| *digit != '0');
    let (left_value, left_end) = number_at(&a, at, is_within_number);
    let (right_value, right_end) = number_at(&b, at, is_within_number);
    left_value.cmp(&right_value).then(left_end.cmp(&right_end)).then(left.cmp(&right))
}

/// The number that begins at `start` and the index of its end. Inside a number it gets a leading 1.
fn number_at(text: &[char], start: usize, is_within_number: bool) -> (u64, usize) {
    let digits = text[start..].iter().map_while(|ch| ch.to_digit(10));
    digits.fold((u64::from(is_within_number), start), |(value, end), digit| {
        (value.wrapping_mul(10).wrapping_add(digit.into()), end + 1)
    })
}
