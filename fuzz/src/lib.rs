//! What the fuzz targets do with their input: each target is a function of bytes.
//!
//! The targets look for inputs that panic; the test `fuzz` of the workspace runs the same functions over the
//! inputs in `fuzz/corpus`, with any compiler. [`TARGETS`] lists them all.

mod accept;
mod apply;
mod bodies;
mod certificates;
mod configuration_files;
mod continue_tokens;
mod cost;
mod expression;
mod field_set;
mod impersonation;
mod issued_tokens;
mod json_patch;
mod merge_patches;
mod request_line;
mod scalars;
mod schema_files;
mod selectors;
mod tokens;
mod yaml;

pub use cost::METER;

/// A target: its name, and what it does with its input.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("accept", accept::run),
    ("apply", apply::run),
    ("cbor", bodies::cbor),
    ("certificates", certificates::run),
    ("configuration_files", configuration_files::run),
    ("continue_tokens", continue_tokens::run),
    ("cost", cost::run),
    ("expression", expression::run),
    ("field_set", field_set::run),
    ("impersonation", impersonation::run),
    ("issued_tokens", issued_tokens::run),
    ("json_patch", json_patch::run),
    ("merge_patches", merge_patches::run),
    ("protobuf_bodies", bodies::protobuf),
    ("request_line", request_line::run),
    ("scalars", scalars::run),
    ("schema_files", schema_files::run),
    ("selectors", selectors::run),
    ("tokens", tokens::run),
    ("typed_bodies", bodies::json),
    ("yaml", yaml::run),
    ("yaml_bodies", bodies::yaml),
];

/// Runs the target of this name.
pub fn run(name: &str, input: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("the target is listed");
    target(input);
}
