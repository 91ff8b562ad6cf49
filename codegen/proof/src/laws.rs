//! What holds for every object in either form.
//!
//! 1. What goes to the other form and back is as it was. (A zero that means a default is the default from
//!    then on, and an empty object whose fields have other places there may be gone.)
//! 2. The defaults of the other form add nothing that is seen in this one, and take nothing away: with them,
//!    the object is still the same here, and has the defaults of this form.
//! 3. A client that sends back what it has read, with the defaults of its version, changes nothing.
//! 4. A valid object is valid in the other form. What is valid in a version is said by the rules of that
//!    version and those of the stored one. (Of two kinds with the same objects, the one above may allow
//!    more.)
//! 5. Who owns a field owns it in the other form and back, with all that is made of the same value, and no
//!    field that was written has lost its owner.

use orch_runtime::{Tree, conversion::Direction};

use crate::{
    mend,
    objects::{Choices, object_of},
    pair::{Pair, typed},
    trees,
};

/// A law that does not hold for an object.
pub struct Broken {
    pub law: &'static str,
    pub object: Tree,
    pub details: String,
}

/// Of so many objects one is made valid, which takes longer than all else.
const MENDED_ONE_IN: usize = 8;

/// What there was to be seen in an object.
pub struct Seen {
    /// Whether it was tried to make it valid.
    pub mended: bool,
    pub valid: bool,
}

/// Makes an object from numbers in the form where the way begins, and looks at every law.
pub fn hold(pair: &Pair, direction: Direction, numbers: &[u32]) -> Result<Seen, Broken> {
    let mut choices = Choices::new(numbers);
    let (here, there) = pair.ends(direction);
    let is_mended = choices.below(MENDED_ONE_IN) == 1;
    // Conversions leave metadata as they are, but for annotations, and metadata are large.
    let has_metadata = choices.below(8) == 1;
    let fields = here.type_def.fields.iter().filter(|field| has_metadata || field.name != "metadata");
    let mut made = typed(here, object_of(fields, &mut choices), true);
    if is_mended {
        made = mend::mended(pair, direction, made, &mut choices);
    }
    let back = direction.reverse();
    let tried = Tried { pair, direction, made: &made };
    let other = pair.convert(direction, &made);
    let again = pair.convert(back, &other);
    if direction == Direction::Down {
        tried.same("what goes down comes up as it was", &again, &made)?;
    } else {
        let settled = pair.settled_below();
        let as_before = [&again, &made].map(|tree| trees::without(tree, &settled));
        tried.same("what goes up comes down as it was", &as_before[0], &as_before[1])?;
        tried.same("what is filled in stays", &pair.convert(direction, &again), &other)?;
    }

    let defaulted = typed(there, other.clone(), true);
    let shown = pair.convert(back, &defaulted);
    tried.same(
        "defaults there leave defaults here as they are",
        &typed(here, shown.clone(), true),
        &shown,
    )?;
    if direction == Direction::Down {
        tried.same("defaults of the version below change nothing above", &shown, &made)?;
        tried.same("what was read has its defaults", &defaulted, &other)?;
    }

    let valid = pair.errors(direction, &made).is_empty();
    if valid && (direction == Direction::Up || pair.are_versions()) {
        let errors = pair.errors(back, &defaulted);
        if !errors.is_empty() {
            return Err(tried.broken("what is valid stays valid", format!("{defaulted}\n{errors:?}")));
        }
    }
    tried.owners(&other)?;
    Ok(Seen { mended: is_mended, valid })
}

/// An object at which the laws are looked at.
struct Tried<'t> {
    pair: &'t Pair,
    direction: Direction,
    made: &'t Tree,
}

impl Tried<'_> {
    fn broken(&self, law: &'static str, details: String) -> Broken {
        Broken { law, object: self.made.clone(), details }
    }

    /// Whether two trees are the same, but for empty objects whose fields have other places.
    fn same(&self, law: &'static str, found: &Tree, expected: &Tree) -> Result<(), Broken> {
        let holders = || self.pair.holders();
        let is_same = found == expected
            || trees::without_empty(found, &holders()) == trees::without_empty(expected, &holders());
        if is_same { Ok(()) } else { Err(self.broken(law, format!("found  {found}\nwanted {expected}"))) }
    }

    /// The law of owners, for the object and its `other` form.
    fn owners(&self, other: &Tree) -> Result<(), Broken> {
        let Tried { pair, direction, made } = *self;
        let (here, there) = pair.ends(direction);
        let back = direction.reverse();
        let owned = trees::owned(made, here.type_def);
        let there_owned = pair.convert_owned(direction, &owned);
        let back_owned = pair.convert_owned(back, &there_owned);
        let again = pair.convert_owned(direction, &back_owned);
        self.same("owners there stay as they are", &again, &there_owned)?;
        let written = trees::telling(&trees::without(other, &pair.filled_in(direction)));
        let written = trees::owned(&written, there.type_def);
        for (law, fields, set) in [
            ("owners come back", &owned, &back_owned),
            ("a field that was written has an owner", &written, &there_owned),
        ] {
            if let Some(lost) = trees::missing(fields, set) {
                return Err(self.broken(law, format!("{lost}\nin {set}")));
            }
        }
        Ok(())
    }
}
