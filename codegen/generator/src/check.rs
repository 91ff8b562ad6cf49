//! Rules over the whole model, each a function of its own. All of them run, whatever the others find.
//!
//! Rules that one construct can break alone (an unknown keyword, a dangling reference) are found where the
//! construct is read or lowered. `tests/diagnostics` has a folder with a rendered report for every rule.

mod constraints;
mod defaults;
mod descriptions;
mod gates;
mod kinds;
mod lists;
mod names;
mod paths;
mod patterns;
mod recursion;
mod rules;
mod tags;
mod unions;
mod value;
mod vocabulary;
mod walk;

use crate::{diagnostic::Diagnostics, lower::Lowered};

type Rule = fn(&Lowered<'_>, &mut Diagnostics);

/// Every rule.
const RULES: &[Rule] = &[
    names::type_names,
    names::list_kinds,
    names::field_names,
    names::reserved_fields,
    names::required_fields,
    names::functions,
    gates::named,
    gates::described_once,
    gates::not_misspelt,
    gates::on_optional_fields,
    descriptions::present,
    tags::unique,
    tags::complete,
    tags::reachable,
    kinds::one_per_file,
    kinds::names,
    kinds::unique_names,
    kinds::unique_short_names,
    kinds::verbs,
    kinds::subresources,
    kinds::one_stored_version,
    kinds::lifecycles,
    kinds::stored_kinds,
    kinds::fields_of_stored_kinds,
    lists::sets,
    lists::map_keys,
    lists::unique_items,
    lists::patch_strategies,
    lists::merge_keys,
    lists::granular_references,
    constraints::bounds,
    constraints::steps,
    patterns::linear,
    defaults::one_source,
    defaults::not_required,
    defaults::valid,
    recursion::types,
    recursion::aliases,
    paths::columns,
    paths::selectable_fields,
    paths::indexes,
    unions::members,
    unions::discriminators,
    rules::paths,
    rules::demands,
    rules::order,
    vocabulary::known_words,
    vocabulary::every_word,
];

/// Runs every rule.
pub fn check(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for rule in RULES {
        rule(lowered, diagnostics);
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;
    use crate::{Inputs, load, lower};

    /// Runs each rule alone over every case of `tests/diagnostics`.
    #[test]
    fn every_rule_has_a_case_that_breaks_it() {
        let mut broken = vec![false; RULES.len()];
        for case in fs::read_dir("tests/diagnostics").expect("the cases are there") {
            let imports = vec![("orch_api".to_owned(), PathBuf::from("tests/fixtures/meta").into())];
            let schema = case.expect("the case can be listed").path();
            let mut ignored = Diagnostics::default();
            let files = load::load(&Inputs { schema: schema.into(), imports }, &mut ignored);
            let lowered = lower::lower(&files, &mut ignored);
            for (rule, broken) in RULES.iter().zip(&mut broken) {
                let mut found = Diagnostics::default();
                rule(&lowered, &mut found);
                *broken |= !found.is_empty();
            }
        }
        let unbroken: Vec<usize> = (0..RULES.len()).filter(|index| !broken[*index]).collect();
        assert!(unbroken.is_empty(), "no case breaks these rules, by their place in the list: {unbroken:?}");
    }
}
