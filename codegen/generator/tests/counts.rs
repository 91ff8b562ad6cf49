//! How much of the API is said in schema files, and how much by hand: the numbers in schema/README.md are
//! true.
//!
//! `UPDATE_GOLDEN=1 cargo test -p orch-codegen --test counts` writes them anew.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{collections::BTreeSet, env, fs, path::Path};

use orch_codegen::{
    Inputs, load,
    model::{Constraints, Demand, Field, ListSemantics, Model, ObjectType, Shape, TypeKind, Usage},
};

const BEGIN: &str = "<!-- counted by codegen/generator/tests/counts.rs -->\n";
const END: &str = "<!-- end -->\n";

#[derive(Debug, Default)]
struct Counts {
    kinds: usize,
    types: usize,
    fields: usize,
    /// Rules that schema files state.
    stated: usize,
    /// Functions that schema files name.
    functions: BTreeSet<String>,
    /// Where they name them.
    calls: usize,
}

#[test]
fn the_numbers_in_the_readme_are_true() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    let loaded = load(&Inputs { schema: schema.clone().into(), imports: Vec::new() });
    assert!(!loaded.diagnostics.has_errors());
    let counts = count(&loaded.model);
    let text = format!(
        "{} kinds, {} types, {} fields. {} rules are stated in schema files; {} hand-written functions, called in {} places, \
         check what cannot be stated.\n",
        counts.kinds,
        counts.types,
        counts.fields,
        counts.stated,
        counts.functions.len(),
        counts.calls
    );
    println!("{text}");
    let readme = schema.join("README.md");
    let written = fs::read_to_string(&readme).unwrap();
    let (before, rest) = written.split_once(BEGIN).expect("the README has a place for the numbers");
    let (found, after) = rest.split_once(END).expect("the place for the numbers ends");
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&readme, [before, BEGIN, &text, END, after].concat()).unwrap();
    } else {
        assert_eq!(found, text, "schema/README.md is out of date: run with UPDATE_GOLDEN=1");
    }
}

fn count(model: &Model) -> Counts {
    let mut counts = Counts::default();
    for resource in model.group_versions.iter().flat_map(|group_version| &group_version.resources) {
        counts.kinds += 1;
        // The rule for its name.
        counts.stated += usize::from(!resource.is_virtual);
    }
    for ty in &model.types {
        counts.types += 1;
        counts.stated += ty.validations.len();
        for function in [&ty.validator, &ty.first_validator, &ty.update_validator].into_iter().flatten() {
            counts.call(function);
        }
        match &ty.kind {
            TypeKind::Object(object) => counts.object(object),
            TypeKind::Enum(_) => counts.stated += 1,
            TypeKind::Alias(usage) => counts.usage(usage),
        }
    }
    counts
}

impl Counts {
    fn call(&mut self, function: &str) {
        self.functions.insert(function.to_owned());
        self.calls += 1;
    }

    fn object(&mut self, object: &ObjectType) {
        for check in &object.checks {
            match &check.demand {
                Demand::Function(name) => self.call(name),
                _ => self.stated += 1,
            }
        }
        self.stated += usize::from(object.union.is_some());
        object.fields.iter().for_each(|field| self.field(field));
    }

    fn field(&mut self, field: &Field) {
        self.fields += 1;
        self.stated += field.validations.len();
        self.stated += usize::from(field.required) + usize::from(field.immutable.is_some());
        if let Some(function) = &field.validator {
            self.call(function);
        }
        self.usage(&field.usage);
    }

    fn usage(&mut self, usage: &Usage) {
        self.stated += constraints(&usage.constraints);
        match &usage.shape {
            Shape::String(Some(_)) => self.stated += 1,
            Shape::List { item, semantics } => {
                let is_unique = *semantics != ListSemantics::Atomic && !usage.constraints.repeated_items;
                self.stated += usize::from(is_unique);
                self.usage(item);
            }
            Shape::Map { keys, value, .. } => {
                self.usage(keys);
                self.usage(value);
            }
            _ => {}
        }
    }
}

fn constraints(written: &Constraints) -> usize {
    // Every field is named, so that a further keyword is not forgotten.
    let Constraints {
        enum_values,
        format_fn,
        pattern,
        minimum,
        maximum,
        exclusive_minimum,
        exclusive_maximum,
        multiple_of,
        min_length,
        max_length,
        min_items,
        max_items,
        unique_items,
        repeated_items: _,
        min_properties,
        max_properties,
    } = written;
    let numbers = [minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of];
    // `minLength: 0` takes a rule away.
    let min_length = &min_length.filter(|length| *length > 0);
    let sizes = [min_length, max_length, min_items, max_items, min_properties, max_properties];
    let others = [!enum_values.is_empty(), format_fn.is_some(), pattern.is_some(), *unique_items];
    numbers.into_iter().flatten().count()
        + sizes.into_iter().flatten().count()
        + others.into_iter().filter(|is_written| *is_written).count()
}
