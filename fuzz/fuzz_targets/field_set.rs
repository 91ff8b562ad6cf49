//! Sets of fields (`FieldsV1`) of arbitrary bytes: a set stays the same when it is written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use orch_machinery::{
    fieldset::FieldSet,
    json::{Limits, decode::decode_any},
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(tree) = decode_any(bytes, &Limits::default()) else { return };
    if let Ok(set) = FieldSet::parse(&tree) {
        let written = set.to_tree();
        assert_eq!(FieldSet::parse(&written), Ok(set.clone()));
        assert_eq!(FieldSet::of_stored(&written), Ok(set));
    }
});
