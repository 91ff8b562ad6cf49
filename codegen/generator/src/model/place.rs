//! Paths inside an object, as rules write them: `.ports[*].name`.

use super::{Field, Model, ObjectType, Resolved, Usage};

/// Each item of a list, or value of a map.
pub const EACH: &str = "*";

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `.name`, or `.'first.second'`.
    Field(String),
    /// `[*]`: each item of a list, or each value of a map.
    Each,
    /// `[name]`: the value of a map under that key; in places of errors, of anything.
    Key(String),
    /// `^`: to what holds the value, for places of errors only.
    Up,
}

impl Step {
    /// The steps of names, with [`EACH`] for items.
    pub fn of_names(names: &[String]) -> Vec<Step> {
        let step = |name: &String| if name == EACH { Step::Each } else { Step::Field(name.clone()) };
        names.iter().map(step).collect()
    }

    /// The steps of a path; `None` where the text is not a path. The empty text is the object itself.
    pub fn path(text: &str) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            rest = &rest[first.len_utf8()..];
            match first {
                '^' => steps.push(Step::Up),
                '[' => {
                    let end = end_of_key(rest)?;
                    let key = &rest[..end];
                    steps.push(if key == "*" { Step::Each } else { Step::Key(key.to_owned()) });
                    rest = &rest[end + 1..];
                }
                '.' if rest.starts_with('\'') => {
                    let (name, after) = rest[1..].split_once('\'')?;
                    steps.push(Step::Field(name.to_owned()));
                    rest = after;
                }
                '.' => {
                    let end = rest.find(['.', '[', '^']).unwrap_or(rest.len());
                    let (name, after) = rest.split_at(end);
                    if name.is_empty() {
                        return None;
                    }
                    steps.push(Step::Field(name.to_owned()));
                    rest = after;
                }
                _ => return None,
            }
        }
        Some(steps)
    }

    /// The text of a path, as [`Step::path`] reads it.
    pub fn text(steps: &[Step]) -> String {
        let step = |step: &Step| match step {
            Step::Field(name) if name.contains(['.', '[', '^']) => format!(".'{name}'"),
            Step::Field(name) => format!(".{name}"),
            Step::Each => format!("[{EACH}]"),
            Step::Key(key) => format!("[{key}]"),
            Step::Up => "^".to_owned(),
        };
        steps.iter().map(step).collect()
    }
}

/// Where a key ends; a value in it may be at a path with keys of its own: `[first/{.items[*].name}]`.
fn end_of_key(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(at, ch)| {
        match ch {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (ch == ']' && depth == 0).then_some(at)
    })
}

/// What stands at the end of a path.
#[derive(Clone, Copy, Debug)]
pub struct Target<'m> {
    /// The value.
    pub usage: &'m Usage,
    /// The field, where the last step is one.
    pub field: Option<&'m Field>,
}

/// A path that does not lead anywhere: the number of the step, and the fields that are known there.
#[derive(Debug)]
pub struct LostStep<'m> {
    /// The number of the step.
    pub at: usize,
    /// The object in which there is no such field; none where the step is of another kind.
    pub object: Option<&'m ObjectType>,
}

impl Model {
    /// What stands at a path of names, with [`EACH`] for items.
    pub fn place<'m>(&'m self, object: &'m ObjectType, path: &[String]) -> Option<Resolved<'m>> {
        self.target(object, &Step::of_names(path)).ok().map(|target| self.resolve(target.usage))
    }

    /// Follows a path of one step or more from an object.
    ///
    /// # Errors
    /// Where a step does not exist.
    pub fn target<'m>(&'m self, object: &'m ObjectType, steps: &[Step]) -> Result<Target<'m>, LostStep<'m>> {
        let mut here = Resolved::Object(super::TypeId(usize::MAX), object);
        let mut target = None;
        for (at, step) in steps.iter().enumerate() {
            target = Some(match (step, here) {
                (Step::Field(name), Resolved::Object(_, object)) => {
                    let field = object.fields.iter().find(|field| field.name == *name);
                    let field = field.ok_or(LostStep { at, object: Some(object) })?;
                    Target { usage: &field.usage, field: Some(field) }
                }
                (Step::Each, Resolved::List(usage, _) | Resolved::Map { value: usage, .. })
                | (Step::Key(_), Resolved::Map { value: usage, .. }) => Target { usage, field: None },
                _ => return Err(LostStep { at, object: None }),
            });
            if let Some(target) = target {
                here = self.resolve(target.usage);
            }
        }
        target.ok_or(LostStep { at: 0, object: None })
    }
}

#[cfg(test)]
mod tests {
    use super::Step;

    #[test]
    fn paths_are_read_and_written() {
        let field = |name: &str| Step::Field(name.to_owned());
        for (text, steps) in [
            ("", Some(vec![])),
            (".a", Some(vec![field("a")])),
            (".a[*].b", Some(vec![field("a"), Step::Each, field("b")])),
            ("^.a", Some(vec![Step::Up, field("a")])),
            (".a[k.x]", Some(vec![field("a"), Step::Key("k.x".to_owned())])),
            (".a.'b.c'.d", Some(vec![field("a"), field("b.c"), field("d")])),
            (".a.'b", None),
            (".a[x/{.b[*].c}].d", Some(vec![field("a"), Step::Key("x/{.b[*].c}".to_owned()), field("d")])),
            ("a", None),
            (".", None),
            (".a..b", None),
            (".a[", None),
        ] {
            assert_eq!(Step::path(text), steps, "{text}");
            if let Some(steps) = steps {
                assert_eq!(Step::text(&steps), text);
            }
        }
    }
}
