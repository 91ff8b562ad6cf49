//! Objects: their fields, and the union that they may be.

use std::collections::BTreeMap;

use super::{
    Lowering,
    keywords::{Class, Position},
    names,
    shape::{any, text},
};
use crate::{
    idl::{Immutable, MapType, OrderedPlace, PatchStrategy, Schema, UnionExtension},
    model::{ErrorPlace, Field, Immutability, OBJECT_META, ObjectType, Patch, Shape, Step, Union, Usage},
    source::Spanned,
};

impl Lowering<'_, '_> {
    /// An object with fields.
    pub(super) fn object(&mut self, name: &str, schema: &Schema) -> ObjectType {
        self.check_keywords(schema, Position::Type);
        self.check_class(schema, Class::Object);
        self.check_object_type(schema);
        let required: Vec<&str> = schema.required.iter().flatten().map(|name| name.value.as_str()).collect();
        let properties = schema.properties.iter().flat_map(|properties| &properties.0);
        let written: Vec<Field> = properties
            .map(|(field, schema)| self.field(field, schema, required.contains(&field.value.as_str())))
            .collect();
        let mut fields = Vec::new();
        if schema.resource.is_some() {
            fields.extend(self.metadata(name, schema, &written));
        }
        fields.extend(written);
        ObjectType {
            fields,
            atomic: schema.map_type.as_ref().is_some_and(|map_type| map_type.value == MapType::Atomic),
            union: schema.union.as_ref().map(union),
            checks: self.checks(schema),
            defaults: self.conditional_defaults(schema),
            order: schema.order.iter().flatten().map(|field| field.value.clone()).collect(),
            error_order: schema.error_order.as_deref().map(error_order).unwrap_or_default(),
            told_at: self.told_at(schema),
        }
    }

    /// `x-orch-told-at`.
    fn told_at(&mut self, schema: &Schema) -> Vec<(Vec<Step>, Vec<Step>)> {
        let written = schema.told_at.iter().flat_map(|told_at| &told_at.0);
        written.filter_map(|(from, to)| Some((self.steps(from)?, self.steps(to)?))).collect()
    }

    fn check_object_type(&mut self, schema: &Schema) {
        use crate::idl::TypeName;
        let Some(types) = &schema.types else {
            let span = schema.key_span("properties");
            self.diagnostics.error(span, "an object without a `type`", "add `type: object`").code("E0207");
            return;
        };
        for word in types.0.iter().filter(|word| word.value != TypeName::Object) {
            self.diagnostics
                .error(&word.span, "this type has no fields", "write `type: object`")
                .code("E0207");
        }
    }

    /// The field that every kind has and no schema writes. It has the first tag where the kind has tags.
    fn metadata(&mut self, kind: &str, schema: &Schema, written: &[Field]) -> Option<Field> {
        let span = schema.resource.as_ref().map_or(&schema.span, |resource| &resource.span);
        let Some(ty) = self.declared.find(OBJECT_META) else {
            let message = format!("the kind `{kind}` needs the type `{OBJECT_META}`, which is not declared");
            self.diagnostics
                .error(
                    span,
                    message,
                    "import the schema folder that declares it: `--import orch_api=DIR`, or `Build::import`; \
                     DIR is the folder `schema` of the repository of orch-api",
                )
                .code("E0207");
            return None;
        };
        let usage = Usage { shape: Shape::Named(ty), ..any(span) };
        Some(Field {
            name: "metadata".to_owned(),
            rust_name: "metadata".to_owned(),
            description: "Standard object metadata.".to_owned(),
            usage,
            required: false,
            accepts_empty: false,
            omit_empty: false,
            null_when_absent: false,
            default: Some(serde_json::json!({})),
            default_fn: None,
            tag: written.iter().any(|field| field.tag.is_some()).then_some(1),
            inline_tag: None,
            patch: Patch::default(),
            granular: false,
            immutable: None,
            write_only: false,
            secret: false,
            feature_gate: None,
            deprecated: None,
            validator: None,
            validations: Vec::new(),
            span: span.clone(),
        })
    }

    fn field(&mut self, name: &Spanned<String>, schema: &Schema, required: bool) -> Field {
        let usage = self.usage_at(schema, Position::Field, &name.span);
        let string = |keyword: &Option<Spanned<String>>| keyword.as_ref().map(|text| text.value.clone());
        Field {
            name: name.value.clone(),
            rust_name: names::field(&name.value),
            description: text(schema.description.as_ref()),
            usage,
            required,
            // Settled when the shapes of all types are known.
            accepts_empty: false,
            omit_empty: false,
            null_when_absent: false,
            default: schema.default.as_ref().map(crate::source::Node::to_json),
            default_fn: schema.default_function.as_ref().map(|default| default.function.value.clone()),
            tag: schema.tag.as_ref().map(|tag| tag.value),
            inline_tag: schema.inline_tag.as_ref().map(|tag| tag.value),
            patch: patch(schema),
            granular: schema.reference.is_some()
                && schema.map_type.as_ref().is_some_and(|map_type| map_type.value == MapType::Granular),
            immutable: schema.immutable.as_ref().and_then(|immutable| match immutable.value {
                Immutable::Flag(flag) => flag.then_some(Immutability::Always),
                Immutable::OnceSet => Some(Immutability::OnceSet),
            }),
            write_only: schema.write_only.as_ref().is_some_and(|flag| flag.value),
            secret: schema.secret.as_ref().is_some_and(|flag| flag.value),
            // Settled when the descriptions of all gates are known.
            feature_gate: None,
            deprecated: string(&schema.deprecation),
            validator: string(&schema.validator),
            // Compiled when all types are known.
            validations: Vec::new(),
            span: name.span.clone(),
        }
    }
}

fn patch(schema: &Schema) -> Patch {
    let strategy = schema.patch_strategy.as_ref().map(|strategy| strategy.value);
    Patch {
        merge: matches!(strategy, Some(PatchStrategy::Merge | PatchStrategy::MergeRetainKeys)),
        retain_keys: matches!(strategy, Some(PatchStrategy::RetainKeys | PatchStrategy::MergeRetainKeys)),
        replace: matches!(strategy, Some(PatchStrategy::Replace)),
        merge_key: schema.patch_merge_key.as_ref().map(|key| key.value.clone()),
    }
}

fn error_order(written: &[OrderedPlace]) -> Vec<ErrorPlace> {
    let place = |place: &OrderedPlace| {
        let name = place.field.value.as_str();
        let field = if name == "." { String::new() } else { name.to_owned() };
        ErrorPlace { field, below: error_order(&place.below) }
    };
    written.iter().map(place).collect()
}

/// Whether `exactlyOne` or `atMostOne` is given, and only one of them, is a rule of `check`.
fn union(written: &UnionExtension) -> Union {
    let members = written.exactly_one.as_ref().or(written.at_most_one.as_ref());
    let discriminator = written.discriminator.as_ref().map(|discriminator| {
        let values = discriminator.values.0.iter();
        let values: BTreeMap<String, String> =
            values.map(|(member, value)| (member.value.clone(), value.value.clone())).collect();
        (discriminator.field.value.clone(), values)
    });
    Union {
        exactly_one: written.exactly_one.is_some(),
        members: members.into_iter().flatten().map(|member| member.value.clone()).collect(),
        discriminator,
        span: written.span.clone(),
    }
}
