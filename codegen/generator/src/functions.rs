//! Hand-written functions that schema files name, looked for in the source of the crate, so that a missing
//! one is reported at its line of the schema.

use std::{fs, path::Path};

use crate::{
    diagnostic::{Diagnostics, suggest},
    model::{Model, Shape, TypeKind, Usage},
};

/// Reports the formats (`x-orch-format`) for which `src/formats.rs`, or a file of `src/formats`, has no
/// function. `source` is the folder `src` of the crate.
pub fn missing_formats(model: &Model, source: &Path, diagnostics: &mut Diagnostics) {
    let mut named = Vec::new();
    let own = model.group_versions.iter().filter(|group_version| group_version.extern_crate.is_none());
    for ty in own.flat_map(|group_version| &group_version.types).map(|id| model.ty(*id)) {
        match &ty.kind {
            TypeKind::Object(object) => {
                object.fields.iter().for_each(|field| formats(&field.usage, &mut named));
            }
            TypeKind::Alias(usage) => formats(usage, &mut named),
            TypeKind::Enum(_) => {}
        }
    }
    if named.is_empty() {
        return;
    }
    let functions = functions(&source.join("formats"));
    let known: Vec<&str> = functions.iter().map(String::as_str).collect();
    for (name, usage) in named {
        if !known.contains(&name) {
            let help = match suggest::nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!(
                        "write `pub fn {name}(value: &str) -> Vec<String>` in src/formats.rs: one text per fault"
                    )
                }
            };
            diagnostics
                .error(&usage.span, format!("there is no function `crate::formats::{name}`"), help)
                .code("E0235");
        }
    }
}

fn formats<'m>(usage: &'m Usage, named: &mut Vec<(&'m str, &'m Usage)>) {
    named.extend(usage.constraints.format_fn.as_deref().map(|name| (name, usage)));
    match &usage.shape {
        Shape::List { item, .. } => formats(item, named),
        Shape::Map { keys, value, .. } => {
            formats(keys, named);
            formats(value, named);
        }
        _ => {}
    }
}

/// The public functions of a module: of its file, and of the files in its folder.
fn functions(module: &Path) -> Vec<String> {
    let below = fs::read_dir(module).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let files = [module.with_extension("rs")].into_iter().chain(below);
    let texts = files.filter_map(|file| fs::read_to_string(file).ok());
    texts.flat_map(|text| names(&text)).collect()
}

fn names(text: &str) -> Vec<String> {
    let definitions = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub fn "));
    definitions.filter_map(|rest| rest.split(['(', '<']).next()).map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inputs, load};

    #[test]
    fn a_missing_format_is_reported_at_its_line() {
        let report = |text: Option<&str>| {
            let source = tempfile::tempdir().unwrap();
            if let Some(text) = text {
                fs::write(source.path().join("formats.rs"), text).unwrap();
            }
            let schema = Path::new("tests/golden/schema");
            let mut loaded = load(&Inputs { schema: schema.into(), imports: Vec::new() });
            missing_formats(&loaded.model, source.path(), &mut loaded.diagnostics);
            loaded.diagnostics.render()
        };
        assert_eq!(report(Some("pub fn even(value: &str) -> Vec<String> {")), "");
        let missing = report(None);
        assert!(missing.contains("there is no function `crate::formats::even`"), "{missing}");
        assert!(missing.contains("checks.yaml:") && missing.contains("in src/formats.rs"), "{missing}");
        assert!(report(Some("    pub fn evne(")).contains("did you mean `evne`?"));
    }
}
