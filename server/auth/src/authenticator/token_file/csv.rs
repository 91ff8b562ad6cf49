//! The CSV of token files: fields are separated by commas, and quoted if they contain a comma, a quote
//! (doubled) or a line break. Blank lines are skipped.

/// One record, and the line on which it begins, counted from 1.
type Record = (usize, Vec<String>);

/// The line, and the problem.
type Problem = (usize, &'static str);

/// Reads the records, up to the first problem.
pub fn records(text: &str) -> impl Iterator<Item = Result<Record, Problem>> {
    let mut reader = Reader { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1 };
    std::iter::from_fn(move || {
        let record = reader.record();
        if matches!(record, Some(Err(_))) {
            reader.rest = "";
        }
        record
    })
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

impl Reader<'_> {
    fn record(&mut self) -> Option<Result<Record, Problem>> {
        while self.skip_line_break() {}
        if self.rest.is_empty() {
            return None;
        }
        let line = self.line;
        let mut fields = Vec::new();
        loop {
            match self.field() {
                Ok(field) => fields.push(field),
                Err(problem) => return Some(Err((line, problem))),
            }
            if !self.skip(",") {
                self.skip_line_break();
                return Some(Ok((line, fields)));
            }
        }
    }

    /// Reads one field. The reader then stands at a comma, a line break or the end.
    fn field(&mut self) -> Result<String, &'static str> {
        if self.skip("\"") { self.quoted() } else { self.plain() }
    }

    fn plain(&mut self) -> Result<String, &'static str> {
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at(end);
        self.rest = rest;
        let at_line_end = !rest.starts_with(',');
        let field = if at_line_end { field.strip_suffix('\r').unwrap_or(field) } else { field };
        if field.contains('"') {
            return Err("a quote stands inside a field that is not quoted");
        }
        Ok(field.to_owned())
    }

    fn quoted(&mut self) -> Result<String, &'static str> {
        let mut field = String::new();
        loop {
            let Some((part, rest)) = self.rest.split_once('"') else {
                return Err("a quoted field does not end");
            };
            self.line += part.matches('\n').count();
            self.rest = rest;
            field.push_str(part);
            if !self.skip("\"") {
                break;
            }
            field.push('"');
        }
        let ends = self.rest.is_empty() || [",", "\n", "\r\n"].iter().any(|end| self.rest.starts_with(end));
        if ends { Ok(field) } else { Err("something follows the closing quote of a field") }
    }

    fn skip_line_break(&mut self) -> bool {
        let skipped = self.skip("\n") || self.skip("\r\n");
        self.line += usize::from(skipped);
        skipped
    }

    fn skip(&mut self, token: &str) -> bool {
        self.rest.strip_prefix(token).map(|rest| self.rest = rest).is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::records;

    #[test]
    fn records_carry_the_line_on_which_they_begin() {
        for (text, expected) in [
            ("", vec![]),
            ("\n\r\n", vec![]),
            ("a,b", vec![(1, vec!["a", "b"])]),
            ("a,b\n\nc\n", vec![(1, vec!["a", "b"]), (3, vec!["c"])]),
            ("a,\r\n,b\r\n", vec![(1, vec!["a", ""]), (2, vec!["", "b"])]),
            ("\u{feff}a", vec![(1, vec!["a"])]),
            ("\"x,y\",\"say \"\"hi\"\"\"\nz", vec![(1, vec!["x,y", "say \"hi\""]), (2, vec!["z"])]),
            ("\"two\nlines\",a\nb", vec![(1, vec!["two\nlines", "a"]), (3, vec!["b"])]),
            (" a , b ", vec![(1, vec![" a ", " b "])]),
        ] {
            let read: Vec<_> = records(text).map(Result::unwrap).collect();
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(line, fields)| (line, fields.into_iter().map(str::to_owned).collect::<Vec<_>>()))
                .collect();
            assert_eq!(read, expected, "{text:?}");
        }
    }

    #[test]
    fn nothing_comes_after_a_problem() {
        for (text, line) in [("a\n\"b", 2), ("a\nb\"c\nd", 2), ("\"a\"b\nc", 1)] {
            let read: Vec<_> = records(text).collect();
            assert_eq!(read.last().unwrap().as_ref().unwrap_err().0, line, "{text:?}");
            assert_eq!(read.iter().filter(|record| record.is_err()).count(), 1, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_quoted_comes_back(rows in proptest::collection::vec(
            proptest::collection::vec("[a-z,\"\r\n ]{0,8}", 1..4), 0..4,
        )) {
            let text: String = rows
                .iter()
                .map(|row| {
                    let fields = row.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\"")));
                    fields.collect::<Vec<_>>().join(",") + "\n"
                })
                .collect();
            let read: Vec<_> = records(&text).map(|record| record.unwrap().1).collect();
            prop_assert_eq!(read, rows);
        }
    }
}
