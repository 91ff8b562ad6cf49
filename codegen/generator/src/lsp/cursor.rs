//! What stands at a position of a schema file: the keys around it, and the word itself.
//!
//! The text is read up to the position and no further, by its indentation and brackets. So it may be wrong,
//! as it is while somebody types; what is read then is a good guess and never an error.

/// A position.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The keys around it, the outermost first; `[]` is an item of a list.
    pub path: Vec<String>,
    /// What is written before it, from the begin of the key or of the value.
    pub typed: String,
    /// Whether it is in a value; the key of the value is the last one of `path` then.
    pub in_value: bool,
    /// The keys and values that stand before it in the same map.
    pub siblings: Vec<(String, String)>,
}

/// The name of an item of a list in a path.
pub const ITEM: &str = "[]";

/// A map or list in which the position is.
#[derive(Debug)]
struct Level {
    /// Of its keys; brackets have none.
    indent: Option<usize>,
    is_list: bool,
    /// The key whose value comes.
    key: Option<String>,
    siblings: Vec<(String, String)>,
}

impl Level {
    fn new(indent: Option<usize>, is_list: bool) -> Self {
        Level { indent, is_list, key: None, siblings: Vec::new() }
    }

    fn step(&self) -> Option<&str> {
        if self.is_list { Some(ITEM) } else { self.key.as_deref() }
    }
}

/// The position in a line, counted from 0, at an offset in bytes.
pub fn at(text: &str, line: usize, offset: usize) -> Cursor {
    let mut reading = Reading { levels: Vec::new(), typed: String::new(), text_below: None };
    for (index, content) in text.lines().take(line + 1).enumerate() {
        let is_last = index == line;
        let content = if is_last { content.get(..offset).unwrap_or(content) } else { content };
        reading.line(content, is_last);
    }
    reading.cursor()
}

/// The position at the end of the word around an offset, whether the word is a key, and the word.
pub fn at_word(text: &str, line: usize, offset: usize) -> (Cursor, bool, String) {
    let content = text.lines().nth(line).unwrap_or_default();
    let is_part = |ch: char| ch.is_alphanumeric() || "$_-./#".contains(ch);
    let before = content.get(..offset).unwrap_or(content);
    let begin = before
        .char_indices()
        .rev()
        .take_while(|(_, ch)| is_part(*ch))
        .last()
        .map_or(before.len(), |(at, _)| at);
    let rest = &content[begin..];
    let length = rest.find(|ch: char| !is_part(ch)).unwrap_or(rest.len());
    let is_key = rest[length..].trim_start_matches(['\'', '"']).starts_with(':');
    (at(text, line, begin + length), is_key, rest[..length].to_owned())
}

struct Reading {
    levels: Vec<Level>,
    /// What was typed since the last bracket, comma, colon or begin of a line.
    typed: String,
    /// The indentation of a key whose text stands in the lines below it.
    text_below: Option<usize>,
}

impl Reading {
    fn line(&mut self, content: &str, is_last: bool) {
        let rest = content.trim_start();
        let mut indent = content.len() - rest.len();
        let in_brackets = self.levels.last().is_some_and(|level| level.indent.is_none());
        if in_brackets {
            self.typed.clear();
            return self.inside(content);
        }
        if let Some(key) = self.text_below {
            if indent > key || (rest.is_empty() && !is_last) {
                rest.clone_into(&mut self.typed);
                return;
            }
            self.text_below = None;
        }
        if (rest.is_empty() && !is_last) || rest.starts_with('#') {
            return;
        }
        let value = std::mem::take(&mut self.typed);
        let depth = self.levels.len();
        let mut rest = rest;
        // Each dash begins an item of a list, whose keys are further to the right.
        while let Some(after) =
            rest.strip_prefix('-').filter(|after| after.is_empty() || after.starts_with(' '))
        {
            self.close(indent, true);
            self.levels.push(Level::new(Some(indent), true));
            let content = after.trim_start();
            indent += rest.len() - content.len();
            rest = content;
        }
        self.close(indent, false);
        let is_whole = self.levels.len() == depth;
        match self.levels.last_mut() {
            Some(level) if !level.is_list && level.indent == Some(indent) => {
                let value = if is_whole { unquoted(&value) } else { String::new() };
                level.siblings.extend(level.key.take().map(|key| (key, value)));
            }
            _ => self.levels.push(Level::new(Some(indent), false)),
        }
        self.inside(rest);
        let ends_with_mark = ["|", "|-", "|+", ">", ">-", ">+"].contains(&self.typed.trim());
        if ends_with_mark && self.levels.last().is_some_and(|level| level.indent == Some(indent)) {
            self.text_below = Some(indent);
        }
    }

    /// Leaves the levels that end where something begins in this column.
    fn close(&mut self, indent: usize, is_item: bool) {
        while let Some(level) = self.levels.last() {
            let ends = match level.indent {
                None => true,
                // The items of a list may stand in the column of its key.
                Some(of_level) => of_level > indent || (of_level == indent && level.is_list),
            };
            let ends = ends || (is_item && level.indent == Some(indent) && level.is_list);
            if !ends {
                break;
            }
            self.levels.pop();
        }
    }

    /// Reads keys, brackets and values.
    fn inside(&mut self, content: &str) {
        let mut quote = None;
        let mut characters = content.chars().peekable();
        let mut before = ' ';
        while let Some(ch) = characters.next() {
            let begins = self.typed.trim().is_empty();
            let in_brackets = self.levels.last().is_some_and(|level| level.indent.is_none());
            match (quote, ch) {
                (Some(open), _) => {
                    if ch == open {
                        quote = None;
                    }
                    self.typed.push(ch);
                }
                (None, '\'' | '"') if begins => {
                    quote = Some(ch);
                    self.typed.push(ch);
                }
                (None, '#') if before.is_whitespace() => return,
                (None, '{' | '[') if begins => {
                    self.typed.clear();
                    self.levels.push(Level::new(None, ch == '['));
                }
                (None, '}' | ']') if in_brackets => {
                    self.settle();
                    self.levels.pop();
                    self.typed.clear();
                }
                (None, ',') if in_brackets => self.settle(),
                (None, ':') if characters.peek().is_none_or(|next| next.is_whitespace()) => self.key(),
                _ => self.typed.push(ch),
            }
            before = ch;
        }
    }

    /// What was typed is a key.
    fn key(&mut self) {
        let key = unquoted(&self.typed);
        self.typed.clear();
        match self.levels.last_mut() {
            Some(level) if !level.is_list => level.key = Some(key),
            _ => {}
        }
    }

    /// What was typed is a whole value.
    fn settle(&mut self) {
        let value = unquoted(&std::mem::take(&mut self.typed));
        if let Some(level) = self.levels.last_mut()
            && let Some(key) = level.key.take()
        {
            level.siblings.push((key, value));
        }
    }

    fn cursor(self) -> Cursor {
        let Reading { levels, typed, .. } = self;
        let path = levels.iter().filter_map(Level::step).map(str::to_owned).collect();
        let last = levels.last();
        let in_value = last.is_some_and(|level| level.is_list || level.key.is_some());
        let siblings = levels.into_iter().last().map(|level| level.siblings).unwrap_or_default();
        Cursor { path, typed: typed.trim_start().to_owned(), in_value, siblings }
    }
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['\'', '"']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Cursor, at, at_word};

    /// The position of `|` in a text, which is taken out.
    fn cursor(text: &str) -> Cursor {
        let at_mark = text.find('|').unwrap();
        let before = &text[..at_mark];
        let line = before.matches('\n').count();
        let offset = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        at(&text.replacen('|', "", 1), line, offset)
    }

    #[test]
    fn keys_around_a_position_are_found_by_indentation_and_brackets() {
        for (text, path, typed, in_value) in [
            ("open|", "", "open", false),
            ("a:\n  b: |", "a b", "", true),
            ("a:\n  b: x\n  c|: {}", "a", "c", false),
            ("a:\n  b:\n    c: 1\nd: x|y", "d", "x", true),
            ("a:\n- b: 1\n  c: v|", "a [] c", "v", true),
            ("a:\n  - b: 1\n  - |", "a []", "", false),
            ("a:\n  - x\n  - y|", "a []", "y", false),
            ("a: {b: {c: 1, d: e|", "a b d", "e", true),
            ("a: {b: 1, c|", "a", "c", false),
            ("a: [x, y|", "a []", "y", true),
            ("a: {b: [{c: ',', d: 'x.y|", "a b [] d", "'x.y", true),
            ("a: {b:\n  {c: 1,\n   d|", "a b", "d", false),
            ("a: {b: 1}\nc:\n  |", "c", "", false),
            ("a: # {not: this\n  b|", "a", "b", false),
            ("'a b':\n  c: |", "a b c", "", true),
        ] {
            let found = cursor(text);
            assert_eq!(found.path.join(" "), path, "{text}");
            assert_eq!((found.typed.as_str(), found.in_value), (typed, in_value), "{text}");
        }
    }

    #[test]
    fn texts_of_several_lines_are_one_value() {
        let text = "a:\n  rule: >-\n    self.b: {\n      && self.c\n  d: 1";
        assert_eq!(at(text, 3, 15).path, ["a", "rule"]);
        assert_eq!(at(text, 3, 15).typed, "&& self.c");
        assert_eq!(at(text, 4, 6).path, ["a", "d"]);
    }

    #[test]
    fn what_stands_before_in_a_map_is_known() {
        let found = cursor("- {field: '.ports[*]', when: x, rule: item.|");
        let expected = [("field", ".ports[*]"), ("when", "x")].map(|(key, value)| (key.into(), value.into()));
        assert_eq!((found.siblings.as_slice(), found.typed.as_str()), (&expected[..], "item."));
    }

    #[test]
    fn words_are_keys_or_values() {
        let (cursor, is_key, word) = at_word("a:\n  $ref: core.v1.Pod # x", 1, 9);
        assert_eq!((cursor.path.join(" ").as_str(), is_key, word.as_str()), ("a $ref", false, "core.v1.Pod"));
        let (cursor, is_key, word) = at_word("a: {minimum: 1}", 0, 6);
        assert_eq!((cursor.path.join(" ").as_str(), is_key, word.as_str()), ("a", true, "minimum"));
    }
}
