//! One function for each rule that a schema can state: what generated validators are made of.
//!
//! Every function looks at one value, and reports into the [`Validation`](crate::field_error::Validation) at
//! the given path, in the standard words, when the rule is broken. A correct value costs no allocation,
//! except where a rule says so. Rules of optional values are called by the generated code only when there is
//! a value.

mod number;
mod pairs;
mod seen;
mod size;
mod text;
mod union;
mod unique;
mod update;

pub use self::{
    number::{
        Number, between, exclusive_maximum, exclusive_minimum, maximum, minimum, multiple_of, not_negative,
        positive,
    },
    pairs::pairs,
    seen::Seen,
    size::{max_items, max_length, max_properties, min_items, min_length, min_properties},
    text::{Pattern, format, one_of, pattern},
    union::{Member, union_at_most_one, union_by_discriminator, union_exactly_one},
    unique::{unique_key, unique_keys, unique_scalars},
    update::{Emptiness, immutable, immutable_shown, once_set, once_set_shown},
};

#[cfg(test)]
mod tests {
    use crate::{
        field_error::{Reason, Validation},
        path::Path,
        vocabulary::EXAMPLE,
    };

    /// What a rule reports about `spec`: each error's text.
    pub(super) fn errors(rule: impl FnOnce(&Path<'_>, &mut Validation<'_>)) -> Vec<String> {
        reported(rule).into_iter().map(|(_, text)| text).collect()
    }

    /// What a rule reports about `spec`: each error's class and text.
    pub(super) fn reported(rule: impl FnOnce(&Path<'_>, &mut Validation<'_>)) -> Vec<(Reason, String)> {
        let mut cx = Validation::new(&EXAMPLE);
        rule(&Path::ROOT.field("spec"), &mut cx);
        cx.into_errors().into_iter().map(|error| (error.reason, error.to_string())).collect()
    }
}
