//! That a conversion loses nothing: every field of either kind has its place in the other one, or a step.

use std::{collections::BTreeSet, mem::discriminant};

use crate::{
    check::walk,
    diagnostic::{Diagnostics, Span},
    lower::Lowered,
    model::{
        ConversionStep, EACH, Field, How, ListSemantics, Model, Names, ObjectType, Omitted, Presence,
        Resolved, Shape, Type, TypeId, TypeKind, Usage,
    },
};

/// Every field has its place in the other kind, and the other way round: else a write in one form would lose
/// what was written in the other.
pub(in crate::check) fn conversions_are_complete(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let model = &lowered.model;
    let resources = walk::resources(lowered);
    let kinds: BTreeSet<TypeId> = resources.iter().map(|written| written.resource.ty).collect();
    for written in &resources {
        let conversion = written.resource.conversion.as_ref();
        // What is no kind is reported as such.
        let Some(conversion) = conversion.filter(|conversion| kinds.contains(&conversion.to)) else {
            continue;
        };
        let (below, above) = (model.ty(written.resource.ty), model.ty(conversion.to));
        let (Some(fields), Some(others)) = (object(below), object(above)) else { continue };
        let places_below: Vec<Names> = conversion.steps.iter().flat_map(ConversionStep::all_below).collect();
        let places_above: Vec<Names> = conversion.steps.iter().flat_map(ConversionStep::all_above).collect();
        let moves = conversion.steps.iter().filter(|step| step.how == How::Move);
        let moves: Vec<(Names, Names)> =
            moves.flat_map(|step| step.all_below().zip(step.all_above())).collect();
        let mut walk = Walk {
            model,
            moves: &moves,
            below: Side { ty: below, places: &places_below },
            above: Side { ty: above, places: &places_above },
            span: &conversion.span,
            diagnostics,
            is_within_whole: false,
        };
        walk.objects(fields, others, &mut Names::new());
    }
}

/// One of the two kinds, and the places in it that steps deal with.
struct Side<'m> {
    ty: &'m Type,
    places: &'m [Names],
}

impl Side<'_> {
    fn has_step(&self, path: &Names) -> bool {
        self.places.contains(path)
    }

    fn has_step_inside(&self, path: &Names) -> bool {
        self.places.iter().any(|place| place.len() > path.len() && place.starts_with(path))
    }
}

struct Walk<'m, 'd> {
    model: &'m Model,
    /// What only changes its place.
    moves: &'m [(Names, Names)],
    below: Side<'m>,
    above: Side<'m>,
    span: &'m Span,
    diagnostics: &'d mut Diagnostics,
    /// What holds the values is owned as a whole in both kinds.
    is_within_whole: bool,
}

impl<'m> Walk<'m, '_> {
    fn objects(&mut self, fields: &'m ObjectType, others: &'m ObjectType, path: &mut Names) {
        for own in &fields.fields {
            path.push(own.name.clone());
            let other = field(others, &own.name).filter(|_| !self.above.has_step(path));
            if !self.below.has_step(path) {
                match other {
                    Some(other) if self.is_present_otherwise(own, other) => {
                        let message = format!(
                            "`{}` is absent or empty otherwise in `{}` than in `{}`",
                            text(path),
                            self.below.ty.qualified_name,
                            self.above.ty.qualified_name
                        );
                        self.report(message, &own.usage, &other.usage, PRESENCE_HELP);
                    }
                    Some(other) => {
                        self.owned_values((&own.usage, Some(own)), (&other.usage, Some(other)), path);
                    }
                    None => self.alone(own, path, true),
                }
            }
            path.pop();
        }
        for other in &others.fields {
            path.push(other.name.clone());
            let own = field(fields, &other.name).filter(|_| !self.below.has_step(path));
            if own.is_none() && !self.above.has_step(path) {
                self.alone(other, path, false);
            }
            path.pop();
        }
    }

    /// Owners know no difference between the parts of what is owned as a whole.
    fn owned_values(
        &mut self,
        own: (&'m Usage, Option<&'m Field>),
        other: (&'m Usage, Option<&'m Field>),
        path: &mut Names,
    ) {
        if !self.is_within_whole && !are_owned_alike(self.model, own, other) {
            let [whole, parts] = if self.model.is_whole(own.0, own.1) {
                [&self.below, &self.above]
            } else {
                [&self.above, &self.below]
            };
            let message = format!(
                "`{}` is owned as a whole in `{}`, and by its parts in `{}`",
                text(path),
                whole.ty.qualified_name,
                parts.ty.qualified_name
            );
            return self.report(message, own.0, other.0, OWNED_HELP);
        }
        let before = self.is_within_whole;
        self.is_within_whole |= self.model.is_whole(own.0, own.1);
        self.values(own.0, other.0, path);
        self.is_within_whole = before;
    }

    fn values(&mut self, own: &'m Usage, other: &'m Usage, path: &mut Names) {
        let has_step = self.below.has_step_inside(path) || self.above.has_step_inside(path);
        match (self.model.resolve(own), self.model.resolve(other)) {
            (Resolved::Object(one, fields), Resolved::Object(two, others)) if one != two || has_step => {
                // Types that contain themselves are compared as a whole: no step leads into them for ever.
                if has_step || !same_shape(self.model, own, other, &mut BTreeSet::new()) {
                    self.objects_once(fields, others, path);
                }
            }
            (Resolved::List(_, semantics), Resolved::List(_, others))
                if has_step && !self.are_same_items(semantics, others, path) =>
            {
                let message = format!(
                    "the items of `{}` are told apart otherwise in `{}` than in `{}`",
                    text(path),
                    self.below.ty.qualified_name,
                    self.above.ty.qualified_name
                );
                self.report(message, own, other, SHAPE_HELP);
            }
            (Resolved::List(own, _), Resolved::List(other, _))
            | (Resolved::Map { value: own, .. }, Resolved::Map { value: other, .. })
                if has_step =>
            {
                path.push(EACH.to_owned());
                self.owned_values((own, None), (other, None), path);
                path.pop();
            }
            _ if same_shape(self.model, own, other, &mut BTreeSet::new()) => {}
            _ => {
                let message = format!(
                    "`{}` has different shapes in `{}` and in `{}`",
                    text(path),
                    self.below.ty.qualified_name,
                    self.above.ty.qualified_name
                );
                self.report(message, own, other, SHAPE_HELP);
            }
        }
    }

    /// Whether the fields tell absent from empty values differently. Fields of different sorts are told as
    /// such.
    fn is_present_otherwise(&self, own: &Field, other: &Field) -> bool {
        let (one, two) = (&own.usage, &other.usage);
        let are_objects = || {
            matches!(
                (self.model.resolve(one), self.model.resolve(two)),
                (Resolved::Object(..), Resolved::Object(..))
            )
        };
        !same_presence(self.model, own, other)
            && (are_objects() || same_shape(self.model, one, two, &mut BTreeSet::new()))
    }

    /// Whether who owns an item owns the same one in the other form: its keys are the same, but may have
    /// other names.
    fn are_same_items(&self, own: &ListSemantics, other: &ListSemantics, path: &Names) -> bool {
        let (ListSemantics::Map(keys), ListSemantics::Map(others)) = (own, other) else {
            return own == other;
        };
        let within = |name: &str| [&path[..], &[EACH.to_owned(), name.to_owned()]].concat();
        let there = |key: &String| {
            let place = within(key);
            let moved = self.moves.iter().find(|(from, _)| *from == place);
            match moved {
                Some((_, to)) => Some(to.clone()),
                None => Some(place).filter(|place| !self.below.has_step(place)),
            }
        };
        let keys: Option<BTreeSet<Names>> = keys.iter().map(there).collect();
        keys == Some(others.iter().map(|key| within(key)).collect())
    }

    /// No path is longer than there are types.
    fn objects_once(&mut self, fields: &'m ObjectType, others: &'m ObjectType, path: &mut Names) {
        if path.len() <= self.model.types.len() {
            self.objects(fields, others, path);
        }
    }

    /// A field that the other kind does not have: steps deal with all that is in it.
    fn alone(&mut self, alone: &'m Field, path: &mut Names, is_below: bool) {
        let (side, other) = if is_below { (&self.below, &self.above) } else { (&self.above, &self.below) };
        if side.has_step_inside(path)
            && let Resolved::Object(_, object) = self.model.resolve(&alone.usage)
        {
            for inner in &object.fields {
                path.push(inner.name.clone());
                let side = if is_below { &self.below } else { &self.above };
                if !side.has_step(path) {
                    self.alone(inner, path, is_below);
                }
                path.pop();
            }
            return;
        }
        let message = format!(
            "`{}` of `{}` has no place in `{}`",
            text(path),
            side.ty.qualified_name,
            other.ty.qualified_name
        );
        let help = format!(
            "add the field there, a step such as `move`, or `keep: {}` with an annotation; the field is in {}",
            text(path),
            line(&alone.span)
        );
        self.diagnostics.error(self.span, message, help);
    }

    fn report(&mut self, message: String, own: &Usage, other: &Usage, help: &str) {
        let (one, two) = (line(&own.span), line(&other.span));
        let help = format!("{help}; they are in {one} and in {two}");
        self.diagnostics.error(self.span, message, help);
    }
}

const SHAPE_HELP: &str =
    "give both the same type and the same `required` and `x-orch-omit-empty`, or add a step";
const OWNED_HELP: &str = "give both the same `x-orch-map-type`, or one of them another name and a step for \
                          each of its parts";
const PRESENCE_HELP: &str = "give both the same `required` and `x-orch-omit-empty`, or add a step that keeps \
                             the difference in an annotation";

/// `.spec.ports[*].name`
pub(super) fn text(path: &[String]) -> String {
    path.iter().map(|name| if name == EACH { "[*]".to_owned() } else { format!(".{name}") }).collect()
}

fn line(span: &Span) -> String {
    format!("{}:{}", span.file.display(), span.line)
}

fn object(ty: &Type) -> Option<&ObjectType> {
    match &ty.kind {
        TypeKind::Object(object) => Some(object),
        _ => None,
    }
}

fn field<'m>(object: &'m ObjectType, name: &str) -> Option<&'m Field> {
    object.fields.iter().find(|field| field.name == name)
}

/// Whether both fields know the difference between a value that is absent and one that is empty, or neither:
/// else it would be lost in one of them. A default leaves no value absent, so such a field fits one that is
/// always written.
pub(super) fn same_presence(model: &Model, one: &Field, other: &Field) -> bool {
    // An enum has no empty value, and in what may be anything null is the absent one.
    if matches!(model.resolve(&one.usage), Resolved::Enum(..) | Resolved::Any) {
        return true;
    }
    let (own, others) = (one.presence(model), other.presence(model));
    let fits = |optional: &Field, plain: Presence| {
        optional.is_filled(model) && plain.omitted == Omitted::Never && !optional.usage.nullable
    };
    match (own.optional, others.optional) {
        (true, false) => fits(one, others),
        (false, true) => fits(other, own),
        _ => true,
    }
}

/// Whether both objects, or maps, are owned as a whole, or neither. Other values are compared elsewhere.
pub(super) fn are_owned_alike(
    model: &Model,
    one: (&Usage, Option<&Field>),
    other: (&Usage, Option<&Field>),
) -> bool {
    match (model.resolve(one.0), model.resolve(other.0)) {
        (Resolved::Object(..), Resolved::Object(..)) | (Resolved::Map { .. }, Resolved::Map { .. }) => {
            model.is_whole(one.0, one.1) == model.is_whole(other.0, other.1)
        }
        _ => true,
    }
}

/// Whether a value of one place fits the other. `seen` are the pairs of types that are being compared.
pub(super) fn same_shape(
    model: &Model,
    one: &Usage,
    other: &Usage,
    seen: &mut BTreeSet<(TypeId, TypeId)>,
) -> bool {
    match (model.resolve(one), model.resolve(other)) {
        (Resolved::Object(one, fields), Resolved::Object(other, others)) => {
            if one == other || !seen.insert((one, other)) {
                return true;
            }
            let fits = |own: &Field| {
                field(others, &own.name).is_some_and(|other| {
                    same_presence(model, own, other)
                        && are_owned_alike(model, (&own.usage, Some(own)), (&other.usage, Some(other)))
                        && same_shape(model, &own.usage, &other.usage, &mut seen.clone())
                })
            };
            fields.fields.len() == others.fields.len() && fields.fields.iter().all(fits)
        }
        (Resolved::List(one, semantics), Resolved::List(other, others)) => {
            semantics == others
                && are_owned_alike(model, (one, None), (other, None))
                && same_shape(model, one, other, seen)
        }
        (Resolved::Map { value: one, .. }, Resolved::Map { value: other, .. }) => {
            are_owned_alike(model, (one, None), (other, None)) && same_shape(model, one, other, seen)
        }
        // The values of an enum are texts.
        (Resolved::Enum(..) | Resolved::Scalar(Shape::String(_)), other) => {
            matches!(other, Resolved::Enum(..) | Resolved::Scalar(Shape::String(_)))
        }
        (Resolved::Scalar(one), Resolved::Scalar(other)) => discriminant(one) == discriminant(other),
        (Resolved::Any, Resolved::Any) => true,
        _ => false,
    }
}
