//! Sets of fields (`FieldsV1`) of arbitrary bytes: a set stays the same when it is written and read again.

use orch_machinery::{
    fieldset::FieldSet,
    json::{Limits, decode::decode_any},
};

pub fn run(bytes: &[u8]) {
    let Ok(tree) = decode_any(bytes, &Limits::default()) else { return };
    if let Ok(set) = FieldSet::parse(&tree) {
        let written = set.to_tree();
        assert_eq!(FieldSet::parse(&written), Ok(set.clone()));
        assert_eq!(FieldSet::of_stored(&written), Ok(set));
    }
}
