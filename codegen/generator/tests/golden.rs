//! The generated code of the schemas in `golden/schema`, compiled without a warning, and doing what the
//! schemas say. That its text is the expected one is checked by `golden_files`.

#![deny(warnings)]
#![allow(missing_docs)]
// What a map has under a key is asked in one way, whether it is a value or whether it is there.
#![allow(clippy::unnecessary_get_then_check)]

#[path = "golden/behaviour.rs"]
mod behaviour;
#[path = "golden/checks.rs"]
mod check_behaviour;
#[path = "golden/columns.rs"]
mod columns;
#[path = "golden/conversions.rs"]
mod conversions;
#[path = "golden/defaults.rs"]
mod defaults;
#[path = "golden/expression_rules.rs"]
mod expression_rules;
#[path = "golden/formats.rs"]
mod formats;
#[path = "golden/validators.rs"]
mod validators;

include!("golden/expected/golden.rs");

/// Every step of a conversion, for random objects.
mod proofs {
    use crate as api;

    include!("golden/expected/golden.proofs.rs");
}
