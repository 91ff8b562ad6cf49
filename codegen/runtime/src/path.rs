//! Where a value stands in an object: `spec.ports[0].name`, `data[key]`.
//!
//! A path is a chain of borrowed segments on the stack, so that validating a correct object allocates
//! nothing; it becomes text only when an error is reported.

use std::fmt;

/// A place in an object, as a link to its parent's place.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: Segment<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Segment<'a> {
    Root,
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

impl Path<'static> {
    /// The object itself; it prints as nothing.
    pub const ROOT: Path<'static> = Path { parent: None, segment: Segment::Root };
}

impl<'a> Path<'a> {
    /// A field of this object: `spec.name`.
    pub fn field<'b>(&'b self, name: &'b str) -> Path<'b>
    where
        'a: 'b,
    {
        Path { parent: Some(self), segment: Segment::Field(name) }
    }

    /// The place that holds this one; the object itself for the object itself.
    pub fn parent(&self) -> &Path<'a> {
        self.parent.unwrap_or(self)
    }

    /// An item of this list: `items[3]`.
    pub fn index<'b>(&'b self, index: usize) -> Path<'b>
    where
        'a: 'b,
    {
        Path { parent: Some(self), segment: Segment::Index(index) }
    }

    /// An entry of this map: `data[key]`.
    pub fn key<'b>(&'b self, key: &'b str) -> Path<'b>
    where
        'a: 'b,
    {
        Path { parent: Some(self), segment: Segment::Key(key) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(out)?;
        }
        match self.segment {
            Segment::Root => Ok(()),
            Segment::Index(index) => write!(out, "[{index}]"),
            Segment::Key(key) => write!(out, "[{key}]"),
            Segment::Field(name) => {
                let first = self.parent.is_none_or(|parent| matches!(parent.segment, Segment::Root));
                if !first {
                    out.write_str(".")?;
                }
                out.write_str(name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn prints_fields_indices_and_keys() {
        let spec = Path::ROOT.field("spec");
        let ports = spec.field("ports");
        let port = ports.index(2);
        assert_eq!(port.field("name").to_string(), "spec.ports[2].name");
        let data = Path::ROOT.field("data");
        assert_eq!(data.key("a.b").to_string(), "data[a.b]");
        assert_eq!(Path::ROOT.to_string(), "");
        assert_eq!(port.parent().parent().to_string(), "spec");
        assert_eq!(Path::ROOT.parent().to_string(), "");
    }
}
