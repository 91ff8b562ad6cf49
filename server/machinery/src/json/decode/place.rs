//! Where the reader stands in a document: a chain on the stack, turned into text only for a report.

use std::fmt::Write as _;

use orch_runtime::type_def::TypeDef;

/// A place in a document, as a link to its parent's place.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    segment: Segment<'p>,
    /// How many lists and objects enclose the place.
    pub(super) depth: usize,
    /// The innermost type that has the place in one of its fields.
    owner: Option<&'static TypeDef>,
}

#[derive(Clone, Copy)]
enum Segment<'p> {
    Root,
    Field(&'p str),
    Key(&'p str),
    Index(usize),
}

impl Place<'static> {
    /// The document itself.
    pub(super) const ROOT: Place<'static> =
        Place { parent: None, segment: Segment::Root, depth: 0, owner: None };
}

impl<'p> Place<'p> {
    pub(super) fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    pub(super) fn field<'q>(&'q self, owner: &'static TypeDef, name: &'q str) -> Place<'q>
    where
        'p: 'q,
    {
        Place { owner: Some(owner), ..self.child(Segment::Field(name)) }
    }

    pub(super) fn key<'q>(&'q self, key: &'q str) -> Place<'q>
    where
        'p: 'q,
    {
        self.child(Segment::Key(key))
    }

    pub(super) fn index<'q>(&'q self, index: usize) -> Place<'q>
    where
        'p: 'q,
    {
        self.child(Segment::Index(index))
    }

    fn child<'q>(&'q self, segment: Segment<'q>) -> Place<'q>
    where
        'p: 'q,
    {
        Place { parent: Some(self), segment, depth: self.depth + 1, owner: self.owner }
    }

    /// The path as reports print it: `spec.containers[0].image`, `data.key`.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        for place in self.chain() {
            match place.segment {
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

    /// The place as type errors name it: `struct field Container.spec.containers.image`, or `value` for the
    /// document itself. Only fields of types count, not list positions and map keys.
    pub(super) fn in_type_error(&self) -> String {
        let Some(owner) = self.owner else { return "value".to_owned() };
        let fields: Vec<&str> = self
            .chain()
            .into_iter()
            .filter_map(|place| if let Segment::Field(name) = place.segment { Some(name) } else { None })
            .collect();
        format!("struct field {}.{}", owner.short_name, fields.join("."))
    }

    fn chain(&self) -> Vec<&Place<'p>> {
        let mut places = Vec::with_capacity(self.depth + 1);
        let mut next = Some(self);
        while let Some(place) = next {
            places.push(place);
            next = place.parent;
        }
        places.reverse();
        places
    }
}
