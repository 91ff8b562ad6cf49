//! Two forms of the same objects, and the way between them.

use std::{fmt, iter};

use orch_runtime::{
    Tree, TreeMap,
    conversion::{Direction, EACH, How, Step},
    field_error::{FieldError, Validation},
    resource_def::{ConversionDef, ResourceDef},
    vocabulary::EXAMPLE,
};

use crate::trees;

/// Two forms of the same objects.
pub struct Pair {
    /// From the one below as far as conversions lead.
    forms: Vec<&'static ResourceDef>,
    /// Which of them is the one above.
    above: usize,
    /// Which of them is stored, where they are versions of one kind: its rules are those of the kind.
    stored: Option<usize>,
}

impl fmt::Display for Pair {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [below, above] = [self.forms[0], self.forms[self.above]];
        write!(out, "{}/{} {} and {}/{}", below.group, below.version, below.kind, above.group, above.version)
    }
}

impl Pair {
    pub fn new(below: &'static ResourceDef, above: &'static ResourceDef) -> Self {
        let up = |form: &&'static ResourceDef| form.conversion.as_ref().map(|conversion| conversion.to);
        let forms: Vec<&'static ResourceDef> = iter::successors(Some(below), up).collect();
        let Some(number) = forms.iter().skip(1).position(|form| std::ptr::eq(*form, above)) else {
            panic!("{} {} is not converted to {} {}", below.version, below.kind, above.version, above.kind);
        };
        let are_versions = (below.group, below.kind) == (above.group, above.kind);
        let stored = forms.iter().position(|form| form.storage_version).filter(|_| are_versions);
        Pair { forms, above: number + 1, stored }
    }

    fn numbers(&self, direction: Direction) -> (usize, usize) {
        match direction {
            Direction::Up => (0, self.above),
            Direction::Down => (self.above, 0),
        }
    }

    /// Where a way begins, and where it ends.
    pub fn ends(&self, direction: Direction) -> (&'static ResourceDef, &'static ResourceDef) {
        let (here, there) = self.numbers(direction);
        (self.forms[here], self.forms[there])
    }

    /// Whether they are versions of one kind. Another kind with the same objects has rules of its own.
    pub fn are_versions(&self) -> bool {
        let (below, above) = self.ends(Direction::Up);
        (below.group, below.kind) == (above.group, above.kind)
    }

    /// The conversions from one form to another one, in order.
    fn way(&self, from: usize, to: usize) -> Vec<(&'static ConversionDef, Direction)> {
        let conversion =
            |number: usize| self.forms[number].conversion.as_ref().expect("it leads to the next");
        if from <= to {
            return (from..to).map(|number| (conversion(number), Direction::Up)).collect();
        }
        (to..from).rev().map(|number| (conversion(number), Direction::Down)).collect()
    }

    fn between(&self, from: usize, to: usize, tree: &Tree) -> Tree {
        let mut tree = tree.clone();
        for (conversion, direction) in self.way(from, to) {
            conversion.convert(direction, true, &EXAMPLE, &mut tree);
        }
        typed(self.forms[to], tree, false)
    }

    /// An object in the other form, as it is stored and read.
    pub fn convert(&self, direction: Direction, tree: &Tree) -> Tree {
        let (here, there) = self.numbers(direction);
        self.between(here, there, tree)
    }

    /// What is wrong with an object in the form where a way begins, in the names of that form: by the rules
    /// of its own version, and by those of the stored one, which a server asks.
    pub fn errors(&self, direction: Direction, tree: &Tree) -> Vec<FieldError> {
        let (here, _) = self.numbers(direction);
        let mut errors = own_errors(self.forms[here], tree);
        // Kinds with the same objects may tell errors in the names of the stored one.
        let is_of_other = |error: &FieldError| {
            let end = error.field.find(['.', '[']).unwrap_or(error.field.len());
            self.forms[here].type_def.field(&error.field[..end]).is_none()
        };
        let back = self.way_of(direction.reverse());
        errors.iter_mut().filter(|error| is_of_other(error)).for_each(|error| rename(error, &back));
        let stored = self.stored.filter(|stored| *stored != here && errors.is_empty());
        if let Some(stored) = stored {
            let form = typed(self.forms[stored], self.between(here, stored, tree), true);
            let way = self.way(stored, here);
            errors = own_errors(self.forms[stored], &form);
            for error in &mut errors {
                rename(error, &way);
            }
        }
        errors
    }

    /// The objects that hold fields of steps, in either form: empty ones may go and come with these fields.
    pub fn holders(&self) -> Vec<Vec<&'static str>> {
        let mut holders = Vec::new();
        for (conversion, _) in self.way_of(Direction::Up) {
            for step in conversion.steps.iter().filter(|step| !step.at.contains(&EACH)) {
                for place in step.below.iter().chain(step.above) {
                    let place = [step.at, place].concat();
                    holders.extend((1..place.len()).map(|length| place[..length].to_vec()));
                }
            }
        }
        // What is further inside comes first.
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.len()));
        holders
    }

    fn way_of(&self, direction: Direction) -> Vec<(&'static ConversionDef, Direction)> {
        let (here, there) = self.numbers(direction);
        self.way(here, there)
    }

    /// A set of owned fields in the names of the other form.
    pub fn convert_owned(&self, direction: Direction, set: &Tree) -> Tree {
        let mut set = set.clone();
        for (conversion, direction) in self.way_of(direction) {
            conversion.convert_owned(direction, &mut set);
        }
        set
    }

    /// The fields at the end of a way that a step has filled in: nobody has written them.
    pub fn filled_in(&self, direction: Direction) -> Tree {
        let is_filled = |step: &Step| match step.how {
            How::Default(_) | How::Constant(_) => direction == Direction::Up,
            _ => false,
        };
        let mut set = Tree::Object(TreeMap::new());
        for (conversion, direction) in self.way_of(direction) {
            conversion.convert_owned(direction, &mut set);
            for step in conversion.steps.iter().filter(|step| is_filled(step)) {
                step.above.iter().for_each(|place| trees::own(&mut set, &[step.at, place].concat()));
            }
        }
        set
    }

    /// The fields below where a zero means a default, which is written out on the way up and stays so.
    pub fn settled_below(&self) -> Tree {
        let mut set = Tree::Object(TreeMap::new());
        for (conversion, direction) in self.way_of(Direction::Down) {
            for step in conversion.steps.iter().filter(|step| matches!(step.how, How::Default(_))) {
                step.above.iter().for_each(|place| trees::own(&mut set, &[step.at, place].concat()));
            }
            conversion.convert_owned(direction, &mut set);
        }
        set
    }
}

/// The field of an error in the names of another form, where it has the same value there.
fn rename(error: &mut FieldError, way: &[(&'static ConversionDef, Direction)]) {
    for (conversion, direction) in way {
        if let Some(path) = conversion.path(*direction, &error.field) {
            error.field = path.into_owned();
        }
    }
}

/// What the type makes of a tree; with its defaults, as clients see it.
///
/// # Panics
/// Where it does not fit the type: a conversion makes objects of the type.
pub fn typed(resource: &ResourceDef, tree: Tree, defaults: bool) -> Tree {
    let shown = tree.to_string();
    let mut object = (resource.from_tree)(tree)
        .unwrap_or_else(|error| panic!("no {} {}: {error}: {shown}", resource.version, resource.kind));
    if defaults {
        object.set_defaults();
    }
    object.to_tree().expect("a type writes what it has read")
}

/// What the rules of a version say of an object that has its defaults.
fn own_errors(resource: &ResourceDef, tree: &Tree) -> Vec<FieldError> {
    let object = (resource.from_tree)(tree.clone()).expect("the type has written it");
    let mut cx = Validation::new(&EXAMPLE);
    object.validate(&mut cx);
    object.validate_expressions(None, &mut cx);
    cx.into_errors()
}
