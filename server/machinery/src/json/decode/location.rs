//! The location of a value in a document: links on the stack, turned into text only for a report.

use std::fmt::Write as _;

use orch_runtime::type_def::TypeDef;

/// The location of a value, as a link to the location of its parent.
#[derive(Clone, Copy)]
pub(super) struct Location<'p> {
    parent: Option<&'p Location<'p>>,
    segment: Segment<'p>,
    /// The number of lists and objects around the value.
    pub(super) depth: usize,
    /// The innermost type that has the value in one of its fields.
    owner: Option<&'static TypeDef>,
}

#[derive(Clone, Copy)]
enum Segment<'p> {
    Root,
    Field(&'p str),
    Key(&'p str),
    Index(usize),
}

impl Location<'static> {
    /// The document itself.
    pub(super) const ROOT: Location<'static> =
        Location { parent: None, segment: Segment::Root, depth: 0, owner: None };
}

impl<'p> Location<'p> {
    pub(super) fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    pub(super) fn field<'q>(&'q self, owner: &'static TypeDef, name: &'q str) -> Location<'q>
    where
        'p: 'q,
    {
        Location { owner: Some(owner), ..self.child(Segment::Field(name)) }
    }

    pub(super) fn key<'q>(&'q self, key: &'q str) -> Location<'q>
    where
        'p: 'q,
    {
        self.child(Segment::Key(key))
    }

    pub(super) fn index<'q>(&'q self, index: usize) -> Location<'q>
    where
        'p: 'q,
    {
        self.child(Segment::Index(index))
    }

    fn child<'q>(&'q self, segment: Segment<'q>) -> Location<'q>
    where
        'p: 'q,
    {
        Location { parent: Some(self), segment, depth: self.depth + 1, owner: self.owner }
    }

    /// The path in reports: `spec.containers[0].image`, `data.key`.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        for location in self.chain() {
            match location.segment {
                Segment::Root => {}
                Segment::Field(name) | Segment::Key(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
                Segment::Index(index) => {
                    let _ = write!(path, "[{index}]");
                }
            }
        }
        path
    }

    /// The location in type errors: `struct field Container.spec.containers.image`, or `value` for the
    /// document itself. Only fields of types count, not list indexes and map keys.
    pub(super) fn in_type_error(&self) -> String {
        let Some(owner) = self.owner else { return "value".to_owned() };
        let fields: Vec<&str> = self
            .chain()
            .into_iter()
            .filter_map(
                |location| if let Segment::Field(name) = location.segment { Some(name) } else { None },
            )
            .collect();
        format!("struct field {}.{}", owner.short_name, fields.join("."))
    }

    fn chain(&self) -> Vec<&Location<'p>> {
        let mut chain = Vec::with_capacity(self.depth + 1);
        let mut next = Some(self);
        while let Some(location) = next {
            chain.push(location);
            next = location.parent;
        }
        chain.reverse();
        chain
    }
}
