//! Flags that are true or false: `--flag`, `--flag=true`, `--flag=false`.
//!
//! A flag is one where its value is called [`BOOL`]; the rest of its definition is here, once for all.

use clap::{Arg, builder::BoolishValueParser};

/// What the value of such a flag is called.
pub const BOOL: &str = "BOOL";

/// Completes the definition of a flag that is true or false; others stay as they are. The flag alone means
/// true, and a value needs an equals sign, so that the next word is never taken for it. The usual spellings
/// are read too: yes, no, on, off, 1, 0.
pub fn complete(flag: Arg) -> Arg {
    if !flag.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == BOOL)) {
        return flag;
    }
    flag.num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .value_parser(BoolishValueParser::new())
        .hide_possible_values(true)
}
