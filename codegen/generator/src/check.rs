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

/// Every rule, with the code of what it finds. A code is never given to another rule.
const RULES: &[(&str, Rule)] = &[
    ("E0301", names::type_names),
    ("E0302", names::list_kinds),
    ("E0303", names::field_names),
    ("E0304", names::reserved_fields),
    ("E0305", names::required_fields),
    ("E0306", names::functions),
    ("E0311", gates::named),
    ("E0312", gates::described_once),
    ("E0313", gates::not_misspelt),
    ("E0314", gates::on_optional_fields),
    ("E0321", descriptions::present),
    ("E0331", tags::unique),
    ("E0332", tags::complete),
    ("E0333", tags::reachable),
    ("E0341", kinds::one_per_file),
    ("E0342", kinds::names),
    ("E0343", kinds::unique_names),
    ("E0344", kinds::unique_short_names),
    ("E0345", kinds::verbs),
    ("E0346", kinds::subresources),
    ("E0347", kinds::one_stored_version),
    ("E0348", kinds::lifecycles),
    ("E0349", kinds::conversion_targets),
    ("E0350", kinds::conversions_are_complete),
    ("E0351", kinds::steps_fit),
    ("E0351", kinds::values_fit),
    ("E0351", kinds::places_are_apart),
    ("E0353", kinds::owners_are_kept),
    ("E0352", kinds::losses_are_kept),
    ("E0352", kinds::annotations_are_apart),
    ("E0361", lists::sets),
    ("E0362", lists::map_keys),
    ("E0363", lists::unique_items),
    ("E0364", lists::patch_strategies),
    ("E0365", lists::merge_keys),
    ("E0366", lists::granular_references),
    ("E0371", constraints::bounds),
    ("E0372", constraints::steps),
    ("E0373", patterns::linear),
    ("E0381", defaults::one_source),
    ("E0382", defaults::not_required),
    ("E0383", defaults::valid),
    ("E0384", defaults::conditional),
    ("E0391", recursion::types),
    ("E0392", recursion::aliases),
    ("E0401", paths::columns),
    ("E0402", paths::selectable_fields),
    ("E0403", paths::indexes),
    ("E0404", paths::scales),
    ("E0411", unions::members),
    ("E0412", unions::discriminators),
    ("E0421", rules::paths),
    ("E0422", rules::demands),
    ("E0423", rules::order),
    ("E0431", vocabulary::known_words),
    ("E0432", vocabulary::every_word),
];

/// Runs every rule.
pub fn check(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (code, rule) in RULES {
        diagnostics.under(code, |diagnostics| rule(lowered, diagnostics));
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
            for ((_, rule), broken) in RULES.iter().zip(&mut broken) {
                let mut found = Diagnostics::default();
                rule(&lowered, &mut found);
                *broken |= !found.is_empty();
            }
        }
        let unbroken: Vec<usize> = (0..RULES.len()).filter(|index| !broken[*index]).collect();
        assert!(unbroken.is_empty(), "no case breaks these rules, by their place in the list: {unbroken:?}");
    }
}
