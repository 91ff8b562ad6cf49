//! Flags whose values have names.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads one of these values by its name.
pub fn named<T: Copy + Send + Sync + 'static>(
    values: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<T> = values.into_iter().collect();
    PossibleValuesParser::new(values.iter().map(|value| name(*value)).collect::<Vec<_>>()).map(move |given| {
        let value = values.iter().copied().find(|value| name(*value) == given);
        value.expect("only these names are accepted")
    })
}
