//! `x-orch-resource` to a row of the resource table.

pub(super) mod columns;

use std::str::FromStr;

use super::Lowering;
use crate::{
    idl::{LifecycleExtension, ResourceExtension, SubresourceExtension},
    model::{Lifecycle, NameFormat, Resource, Scale, Subresource, TypeId, UpdateCheck, Verb},
    source::Spanned,
};

/// Verbs of `status` and `scale`.
const PART: [Verb; 3] = [Verb::Get, Verb::Patch, Verb::Update];

/// The body of `scale`.
const SCALE: &str = "autoscaling.v1.Scale";

impl Lowering<'_, '_> {
    /// A kind that is served.
    pub(super) fn resource(
        &mut self,
        ty: TypeId,
        kind: &Spanned<String>,
        written: &ResourceExtension,
    ) -> Resource {
        let flag = |keyword: &Option<Spanned<bool>>, default: bool| {
            keyword.as_ref().map_or(default, |flag| flag.value)
        };
        let texts = |keyword: &Option<Vec<Spanned<String>>>| {
            keyword.iter().flatten().map(|text| text.value.clone()).collect::<Vec<_>>()
        };
        let is_virtual = flag(&written.is_virtual, false);
        let default_verbs: &[Verb] = if is_virtual { &[Verb::Create] } else { Verb::ALL };
        Resource {
            ty,
            kind: kind.value.clone(),
            plural: written.plural.value.clone(),
            singular: written
                .singular
                .as_ref()
                .map_or_else(|| kind.value.to_lowercase(), |name| name.value.clone()),
            short_names: texts(&written.short_names),
            categories: texts(&written.categories),
            scope: written.scope,
            verbs: verbs(written.verbs.as_ref(), default_verbs),
            is_virtual,
            subresources: self.subresources(written),
            name_format: written.name_format.as_ref().map_or(NameFormat::DnsSubdomain, |format| format.value),
            create_on_update: flag(&written.create_on_update, false),
            unconditional_update: flag(&written.unconditional_update, true),
            update_checks: written.update_checks.as_ref().map_or_else(
                || UpdateCheck::USUAL.to_vec(),
                |checks| checks.iter().map(|check| check.value).collect(),
            ),
            metadata_rules: written
                .metadata_rules
                .as_ref()
                .map_or_else(Default::default, |rules| rules.value),
            counts_generation: flag(&written.generation, false),
            delete_returns_object: flag(&written.delete_returns_object, false),
            columns: self.columns(written),
            selectable_fields: self.paths(written.selectable_fields.as_deref().unwrap_or_default()),
            selectable_names: self.names(written),
            indexed_fields: self.paths(written.indexed_fields.as_deref().unwrap_or_default()),
            indexed_labels: texts(&written.indexed_labels),
            lifecycle: written.lifecycle.as_ref().map(lifecycle).unwrap_or_default(),
            // Known when all versions are.
            storage_version: false,
            conversion: written.conversion.as_ref().and_then(|written| self.conversion(written)),
            span: kind.span.clone(),
        }
    }

    fn subresources(&mut self, written: &ResourceExtension) -> Vec<Subresource> {
        let mut subresources: Vec<Subresource> = Vec::new();
        for entry in written.subresources.iter().flatten() {
            let (name, full) = entry.parts();
            let own_verbs = full.and_then(|full| full.verbs.as_ref());
            let body = full.and_then(|full| full.body.as_ref());
            if subresources.iter().any(|other| other.name == name.value) {
                let message = format!("duplicate subresource `{}`", name.value);
                self.diagnostics.error(&name.span, message, "remove one of the two").code("E0212");
                continue;
            }
            let default_verbs: &[Verb] =
                if matches!(name.value.as_str(), "status" | "scale") { &PART } else { &[Verb::Create] };
            let of_scale = Spanned { value: SCALE.to_owned(), span: name.span.clone() };
            let is_scale = name.value == "scale";
            let body = body.or(is_scale.then_some(&of_scale));
            subresources.push(Subresource {
                name: name.value.clone(),
                verbs: verbs(own_verbs, default_verbs),
                body: body.and_then(|body| self.qualified_reference(body)),
                scale: if is_scale { self.scale(name, full) } else { None },
            });
        }
        subresources.sort_by(|a, b| a.name.cmp(&b.name));
        subresources
    }

    fn scale(&mut self, name: &Spanned<String>, full: Option<&SubresourceExtension>) -> Option<Scale> {
        let [replicas, status_replicas] = SubresourceExtension::counts(name, full);
        let selector = full.and_then(|full| full.selector.as_ref());
        Some(Scale {
            replicas: self.path(&replicas)?,
            status_replicas: self.path(&status_replicas)?,
            selector: selector.and_then(|path| self.path(path)),
        })
    }

    /// `.status.phase` to `[status, phase]`; those that do not begin with a dot are reported and left out.
    fn names(&mut self, written: &ResourceExtension) -> Vec<(String, Vec<Vec<String>>)> {
        let names = written.selectable_names.iter().flatten();
        names.map(|written| (written.name.value.clone(), self.paths(&written.paths))).collect()
    }

    fn paths(&mut self, written: &[Spanned<String>]) -> Vec<Vec<String>> {
        written.iter().filter_map(|path| self.path(path)).collect()
    }

    fn path(&mut self, written: &Spanned<String>) -> Option<Vec<String>> {
        let segments = written.value.strip_prefix('.').map(|rest| rest.split('.').collect::<Vec<_>>());
        if let Some(segments) = segments.filter(|segments| segments.iter().all(|segment| !segment.is_empty()))
        {
            return Some(segments.into_iter().map(str::to_owned).collect());
        }
        let message = format!("`{}` is not a path", written.value);
        self.diagnostics
            .error(&written.span, message, "a path is a dot and a field, repeated: `.status.phase`")
            .code("E0211");
        None
    }
}

fn verbs(written: Option<&Vec<Spanned<Verb>>>, default: &[Verb]) -> Vec<Verb> {
    let mut verbs: Vec<Verb> =
        written.map_or_else(|| default.to_vec(), |verbs| verbs.iter().map(|verb| verb.value).collect());
    verbs.sort_unstable();
    verbs.dedup();
    verbs
}

/// What is no release, or no kind, is left out: the checks report it.
fn lifecycle(written: &LifecycleExtension) -> Lifecycle {
    fn read<T: FromStr>(keyword: Option<&Spanned<String>>) -> Option<T> {
        keyword.and_then(|text| text.value.parse().ok())
    }
    Lifecycle {
        introduced: read(written.introduced.as_ref()),
        deprecated: read(written.deprecated.as_ref()),
        removed: read(written.removed.as_ref()),
        replacement: read(written.replacement.as_ref()),
    }
}
