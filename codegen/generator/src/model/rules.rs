//! The rules that OpenAPI's own keywords state about a value, in the order in which they are checked.
//!
//! A rule is data here. Generated code calls the function of [`orch_runtime::rule`] that it stands for, and
//! the checks of defaults call the same function.

use orch_runtime::constraint::{self, Constraint};

use super::{Constraints, ListSemantics, Model, Resolved, Shape, StringFormat, Usage};

/// A rule about one value: a function of [`orch_runtime::rule`] and its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule<'m> {
    /// `minimum` and `maximum`.
    Between(f64, f64),
    /// `minimum` alone.
    Minimum(f64),
    /// `exclusiveMinimum`.
    ExclusiveMinimum(f64),
    /// `maximum` alone.
    Maximum(f64),
    /// `exclusiveMaximum`.
    ExclusiveMaximum(f64),
    /// `multipleOf`.
    MultipleOf(f64),
    /// `enum`.
    OneOf(&'m [String]),
    /// `format`.
    Format(StringFormat),
    /// `pattern`.
    Pattern(&'m str),
    /// `minLength`, in bytes.
    MinLength(u64),
    /// `maxLength`, in bytes.
    MaxLength(u64),
    /// `minItems`.
    MinItems(u64),
    /// `maxItems`.
    MaxItems(u64),
    /// Each single value occurs once: `uniqueItems`, or a set.
    UniqueItems,
    /// No two items have the same values in these fields: a keyed list.
    UniqueKeys(&'m [String]),
    /// `minProperties`.
    MinProperties(u64),
    /// `maxProperties`.
    MaxProperties(u64),
}

impl Model {
    /// The rules about a value at a place, without those about what is inside of it.
    pub fn rules<'m>(&'m self, usage: &'m Usage) -> Vec<Rule<'m>> {
        let usage = self.innermost(usage);
        let constraints = &usage.constraints;
        match self.resolve(usage) {
            Resolved::Scalar(Shape::Int32 | Shape::Int64 | Shape::Double) => number(constraints),
            Resolved::Scalar(Shape::String(format)) => text(*format, constraints),
            Resolved::List(_, semantics) => list(constraints, semantics),
            Resolved::Map { .. } => {
                let least = constraints.min_properties.map(Rule::MinProperties);
                least.into_iter().chain(constraints.max_properties.map(Rule::MaxProperties)).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn number(constraints: &Constraints) -> Vec<Rule<'_>> {
    let (least, greatest) = match (constraints.minimum, constraints.maximum) {
        (Some(least), Some(greatest)) => (Some(Rule::Between(least, greatest)), None),
        (least, greatest) => (least.map(Rule::Minimum), greatest.map(Rule::Maximum)),
    };
    let rules = [
        least,
        constraints.exclusive_minimum.map(Rule::ExclusiveMinimum),
        greatest,
        constraints.exclusive_maximum.map(Rule::ExclusiveMaximum),
        constraints.multiple_of.map(Rule::MultipleOf),
    ];
    rules.into_iter().flatten().collect()
}

fn text(format: Option<StringFormat>, constraints: &Constraints) -> Vec<Rule<'_>> {
    let values = constraints.enum_values.as_slice();
    let rules = [
        (!values.is_empty()).then_some(Rule::OneOf(values)),
        format.map(Rule::Format),
        constraints.pattern.as_deref().map(Rule::Pattern),
        constraints.min_length.filter(|min| *min > 0).map(Rule::MinLength),
        constraints.max_length.map(Rule::MaxLength),
    ];
    rules.into_iter().flatten().collect()
}

fn list<'m>(constraints: &Constraints, semantics: &'m ListSemantics) -> Vec<Rule<'m>> {
    let unique = match semantics {
        _ if constraints.repeated_items => None,
        ListSemantics::Map(keys) => Some(Rule::UniqueKeys(keys)),
        ListSemantics::Set => Some(Rule::UniqueItems),
        ListSemantics::Atomic => constraints.unique_items.then_some(Rule::UniqueItems),
    };
    let sizes = [constraints.min_items.map(Rule::MinItems), constraints.max_items.map(Rule::MaxItems)];
    sizes.into_iter().chain([unique]).flatten().collect()
}

impl StringFormat {
    /// The rule of the runtime, by name and as it is.
    pub fn constraint(self) -> (&'static str, Constraint) {
        match self {
            StringFormat::LabelKey => ("qualified_name", constraint::qualified_name),
            StringFormat::LabelValue => ("label_value", constraint::label_value),
            StringFormat::DnsLabel => ("dns_label", constraint::dns_label),
            StringFormat::DnsSubdomain => ("dns_subdomain", constraint::dns_subdomain),
            StringFormat::PathSegment => ("path_segment", constraint::path_segment),
            StringFormat::Cidr => ("cidr", constraint::cidr),
            StringFormat::Ip => ("ip", constraint::ip),
            StringFormat::Uri => ("uri", constraint::uri),
        }
    }
}
