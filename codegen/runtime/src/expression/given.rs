//! Parts of generated structs: whether they are given, and their values.

use std::collections::BTreeMap;

use super::fault::Fault;

/// The value of an optional field; a fault where it is not given.
pub fn given<'v, T>(value: &'v Option<T>, name: &'static str) -> Result<&'v T, Fault> {
    value.as_ref().ok_or_else(|| Fault::NoSuchKey(name.into()))
}

/// The value of a field whose empty value means that it is not given.
pub fn given_if<T>(is_given: bool, value: T, name: &'static str) -> Result<T, Fault> {
    if is_given { Ok(value) } else { Err(Fault::NoSuchKey(name.into())) }
}

/// The value of a key.
pub fn entry<'v, T>(map: &'v BTreeMap<String, T>, key: &str) -> Result<&'v T, Fault> {
    map.get(key).ok_or_else(|| Fault::NoSuchKey(key.to_owned().into()))
}

/// The item at a position.
pub fn item<T>(list: &[T], position: i64) -> Result<&T, Fault> {
    let found = usize::try_from(position).ok().and_then(|position| list.get(position));
    found.ok_or_else(|| Fault::IndexOutOfBounds(position.to_string()))
}

/// Whether a field that is always given is there.
pub fn is_there<T: ?Sized>(_owner: &T) -> bool {
    true
}

/// The items of an old list by what identifies them; the first of several.
pub fn by_key<'l, T, K: Ord>(old: Option<&'l Vec<T>>, key: impl Fn(&'l T) -> K) -> BTreeMap<K, &'l T> {
    old.into_iter().flatten().rev().map(|item| (key(item), item)).collect()
}

/// The old state of what says nothing of what identifies it.
pub fn no_old<T>(_new: &T) -> Option<&T> {
    None
}

/// Whether a text is one of several.
pub fn is_one_of<'t>(text: &str, mut texts: impl Iterator<Item = &'t str>) -> bool {
    texts.any(|other| other == text)
}
