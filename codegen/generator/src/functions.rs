//! Hand-written functions that schema files name, looked for in the source of the crate, so that one that is
//! missing, or takes something else, is reported at its line of the schema.
//!
//! The source is searched as text. A name that it has anywhere counts as there, because functions can come
//! from other crates; what is left is found by the compiler.

mod text;

use std::path::PathBuf;

use crate::{
    diagnostic::{Diagnostics, Span, suggest},
    model::{Check, ColumnValue, Demand, How, Model, OwnFormat, Shape, TypeKind, Usage},
};

/// What a schema file can name: the keyword, the module of the crate, and what such a function looks like.
struct Role {
    keyword: &'static str,
    module: &'static str,
    parameters: &'static [&'static str],
    result: &'static str,
}

const fn role(
    keyword: &'static str,
    module: &'static str,
    parameters: &'static [&'static str],
    result: &'static str,
) -> Role {
    Role { keyword, module, parameters, result }
}

const CX: &str = "cx: &mut Validation<'_>";
const PATH: &str = "path: &Path<'_>";

static FORMAT: Role = role("x-orch-format", "formats", &["value: &str"], " -> Vec<String>");
static FORMAT_IN_WORDS: Role =
    role("x-orch-format", "formats", &["value: &str", "words: &Vocabulary"], " -> Vec<String>");
static RULE: Role = role("fn", "validators", &["value: &T", PATH, CX], "");
static UPDATE_RULE: Role = role("fn", "validators", &["new: &T", "old: &T", PATH, CX], "");
static VALIDATOR: Role = role("x-orch-validator", "validators", &["value: &T", PATH, CX], "");
static FIRST_VALIDATOR: Role = role("x-orch-first-validator", "validators", &["value: &T", PATH, CX], "");
static UPDATE_VALIDATOR: Role =
    role("x-orch-update-validator", "validators", &["new: &T", "old: &T", PATH, CX], "");
static DEFAULTER: Role = role("x-orch-defaulter", "defaults", &["value: &mut T"], "");
static DEFAULT: Role = role("x-orch-default", "defaults", &[], " -> T");
static COLUMN: Role = role("fn", "columns", &["tree: &Tree", "cx: &ColumnContext<'_>"], " -> Tree");
static CONVERSION: Role = role(
    "fn",
    "conversions",
    &["direction: Direction", "values: Vec<Option<Tree>>"],
    " -> Vec<Option<Tree>>",
);

/// A function that a schema file names.
struct Named<'m> {
    role: &'static Role,
    name: &'m str,
    /// What names it.
    span: &'m Span,
}

/// Reports the functions that the crate does not have, and those that take other values, as far as the text
/// tells. `sources` are its folder `src`, or those of all crates that are generated from the schema folder;
/// without one nothing is known.
pub fn check(model: &Model, sources: &[PathBuf], diagnostics: &mut Diagnostics) {
    let named = named(model);
    if named.is_empty() || sources.is_empty() {
        return;
    }
    let texts: Vec<_> = sources.iter().flat_map(|source| text::all(source)).collect();
    for Named { role, name, span } in named {
        let Role { keyword, module, parameters, result } = role;
        let wanted = format!("pub fn {name}({}){result}", parameters.join(", "));
        let found: Vec<Vec<String>> =
            text::of(&texts, module).filter_map(|text| text::parameters(text, name)).collect();
        let is_short = !found.iter().any(|found| found.len() == parameters.len());
        let (message, help) = if !texts.iter().any(|(_, text)| text::has_word(text, name)) {
            let known = text::of(&texts, module).flat_map(text::functions);
            let help = match suggest::nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write `{wanted}` in src/{module}.rs"),
            };
            (format!("there is no function `crate::{module}::{name}`"), help)
        } else if !found.is_empty() && is_short {
            let message = format!("the function `crate::{module}::{name}` takes {} values", found[0].len());
            (message, format!("it is called as `{wanted}`"))
        } else if let Some(other) = mistyped(parameters, &found) {
            let message = format!("the function `crate::{module}::{name}` takes `{other}`");
            (message, format!("it is called as `{wanted}`"))
        } else {
            continue;
        };
        let at = diagnostics.source(&span.file).and_then(|text| text::place(text, span, keyword, name));
        diagnostics.error(&at.unwrap_or_else(|| span.clone()), message, help).code("E0235");
    }
}

/// A value of the function that cannot be what it is called with, where no function of the name fits.
fn mistyped<'f>(wanted: &[&str], found: &'f [Vec<String>]) -> Option<&'f str> {
    let other = |found: &'f Vec<String>| {
        let mut pairs = wanted.iter().zip(found);
        pairs.find(|(wanted, found)| !text::fits(wanted, found)).map(|(_, found)| found.as_str())
    };
    let mut others = found.iter().filter(|found| found.len() == wanted.len()).map(other);
    let first = others.next()?;
    if others.all(|other| other.is_some()) { first } else { None }
}

/// Every function that the crate must have.
fn named(model: &Model) -> Vec<Named<'_>> {
    let mut named = Vec::new();
    let own = model.group_versions.iter().filter(|group_version| group_version.extern_crate.is_none());
    for group_version in own {
        for ty in group_version.types.iter().map(|id| model.ty(*id)) {
            let of_type = [
                (&VALIDATOR, &ty.validator),
                (&FIRST_VALIDATOR, &ty.first_validator),
                (&UPDATE_VALIDATOR, &ty.update_validator),
                (&DEFAULTER, &ty.defaulter),
            ];
            named.extend(
                of_type.into_iter().filter_map(|(role, name)| {
                    name.as_deref().map(|name| Named { role, name, span: &ty.span })
                }),
            );
            match &ty.kind {
                TypeKind::Object(object) => {
                    object.checks.iter().for_each(|check| of_check(check, &mut named));
                    for field in &object.fields {
                        let of_field = [(&VALIDATOR, &field.validator), (&DEFAULT, &field.default_fn)];
                        named.extend(of_field.into_iter().filter_map(|(role, name)| {
                            name.as_deref().map(|name| Named { role, name, span: &field.span })
                        }));
                        formats(&field.usage, &mut named);
                    }
                }
                TypeKind::Alias(usage) => formats(usage, &mut named),
                TypeKind::Enum(_) => {}
            }
        }
        for resource in &group_version.resources {
            let span = &model.ty(resource.ty).span;
            named.extend(resource.columns.iter().filter_map(|column| match &column.value {
                ColumnValue::Computed(name) => Some(Named { role: &COLUMN, name, span }),
                _ => None,
            }));
            let steps = resource.conversion.iter().flat_map(|conversion| &conversion.steps);
            named.extend(steps.filter_map(|step| match &step.how {
                How::Function(name) => Some(Named { role: &CONVERSION, name, span }),
                _ => None,
            }));
        }
    }
    named
}

fn own_format<'m>(format: &'m OwnFormat, span: &'m Span) -> Named<'m> {
    let role = if format.takes_words { &FORMAT_IN_WORDS } else { &FORMAT };
    Named { role, name: &format.function, span }
}

/// The functions that a rule names.
fn of_check<'m>(check: &'m Check, named: &mut Vec<Named<'m>>) {
    match &check.demand {
        Demand::Function(name) => {
            let is_update = check.is_about_change() && check.field.is_empty();
            let role = if is_update { &UPDATE_RULE } else { &RULE };
            named.push(Named { role, name, span: &check.span });
        }
        Demand::Value(constraints, _) => {
            named.extend(constraints.format_fn.as_ref().map(|format| own_format(format, &check.span)));
        }
        _ => {}
    }
}

fn formats<'m>(usage: &'m Usage, named: &mut Vec<Named<'m>>) {
    named.extend(usage.constraints.format_fn.as_ref().map(|format| own_format(format, &usage.span)));
    match &usage.shape {
        Shape::List { item, .. } => formats(item, named),
        Shape::Map { keys, value, .. } => {
            formats(keys, named);
            formats(value, named);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::{Inputs, load};

    /// What is reported about `schema` where the crate has these files.
    fn report(schema: &Path, files: &[(&str, &str)]) -> String {
        let source = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = source.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut loaded = load(&Inputs { schema: schema.into(), imports: Vec::new() });
        loaded.diagnostics.forget_warnings();
        check(&loaded.model, &[source.path().to_owned()], &mut loaded.diagnostics);
        loaded.diagnostics.render()
    }

    const SCHEMA: &str = "\
openapi: 3.1.0
info: {title: example.orch.io, version: v1}
components:
  schemas:
    Part:
      description: A part.
      x-orch-validator: part
      x-orch-update-validator: part_update
      x-orch-defaulter: part_defaults
      type: object
      properties:
        size: {description: Its size., type: string, x-orch-format: {fn: even}}
        made: {description: When., type: string, x-orch-default: {fn: made}}
";

    #[test]
    fn what_is_missing_or_takes_something_else_is_reported_at_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("example.orch.io/v1/part.yaml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, SCHEMA).unwrap();
        let good = "pub use other::part_update;\n\
                    pub fn part(value: &Part, path: &Path<'_>, cx: &mut Validation<'_>,) {}\n";
        let defaults = "pub fn part_defaults(value: &mut Part) {}\npub fn made() -> String {}\n";
        let formats = "pub fn even<'a>(value: &'a str) -> Vec<String> {";
        let files = [("validators/part.rs", good), ("defaults.rs", defaults), ("formats.rs", formats)];
        assert_eq!(report(folder.path(), &files), "");

        let missing = report(folder.path(), &[("validators.rs", "pub fn prat() {}\npub fn other() {}")]);
        for expected in [
            "there is no function `crate::validators::part`",
            "part.yaml:7:25",
            "did you mean `prat`?",
            "there is no function `crate::validators::part_update`",
            "part.yaml:8:32",
            "write `pub fn part_defaults(value: &mut T)` in src/defaults.rs",
            "part.yaml:9:25",
            "write `pub fn even(value: &str) -> Vec<String>` in src/formats.rs",
            "part.yaml:12:",
            "write `pub fn made() -> T` in src/defaults.rs",
        ] {
            assert!(missing.contains(expected), "{expected} is not in\n{missing}");
        }
        let wrong =
            [("validators.rs", "pub fn part(value: &Part, cx: &mut Validation<'_>) {}"), files[1], files[2]];
        let wrong = report(folder.path(), &wrong);
        assert!(wrong.contains("the function `crate::validators::part` takes 2 values"), "{wrong}");
        assert!(wrong.contains("it is called as `pub fn part(value: &T, path: &Path<'_>, "), "{wrong}");
        let swapped = "pub fn part(value: &Part, cx: &mut Validation<'_>, path: &Path<'_>) {}\n\
                       pub use other::part_update;";
        let swapped = report(folder.path(), &[("validators.rs", swapped), files[1], files[2]]);
        let expected = "the function `crate::validators::part` takes `cx: &mut Validation<'_>`";
        assert!(swapped.contains(expected) && swapped.contains("part.yaml:7:25"), "{swapped}");
    }
}
