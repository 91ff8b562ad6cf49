//! Label selectors: requirements on single labels, all of which must hold.
//!
//! A requirement is `a`, `!a`, `a=x`, `a==x`, `a!=x`, `a in (x,y)`, `a notin (x,y)`, `a>1` or `a<1`; commas
//! join them. `!=` and `notin` hold for objects without the label.

mod parse;
mod values;

use std::fmt;

use orch_runtime::{constraint, field_error::Shown as _};

use self::values::Values;
use super::SelectorError;

/// A label selector. The empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    /// Sorted by key.
    requirements: Vec<Requirement>,
}

/// A condition on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Values,
}

/// How the value of a label is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label is absent, or has none of the values.
    NotIn,
    /// The label has the value; written `=`.
    Equals,
    /// The same as `Equals`; written `==`.
    DoubleEquals,
    /// The label is absent, or has another value.
    NotEquals,
    /// The label is present.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The label has an integer above the value.
    GreaterThan,
    /// The label has an integer below the value.
    LessThan,
}

impl LabelSelector {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        parse::parse(text).map(LabelSelector::of)
    }

    /// Whether objects with these labels are selected; `label` gives the value of a label that is present.
    pub fn matches<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.holds_for(label(&requirement.key)))
    }

    /// Whether every object is selected.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The conditions, by key.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// The value that the selector requires of a label, if it requires one.
    pub fn requires_exact(&self, key: &str) -> Option<&str> {
        let requirement = self.requirements.iter().find(|requirement| requirement.key == key)?;
        let mut values = requirement.values.iter();
        match requirement.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals if values.len() == 1 => values.next(),
            _ => None,
        }
    }

    fn of(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|left, right| left.key.cmp(&right.key));
        LabelSelector { requirements }
    }
}

/// The canonical text: sorted by key, values sorted.
impl fmt::Display for LabelSelector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                out.write_str(",")?;
            }
            requirement.fmt(out)?;
        }
        Ok(())
    }
}

impl Requirement {
    /// Makes a requirement and checks its values. The parser has checked the key, and gives as many values as
    /// the operator takes.
    fn new(key: String, operator: Operator, values: Vec<String>) -> Result<Self, SelectorError> {
        let values = Values::new(values);
        let mut errors = Vec::new();
        if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
            for (index, value) in values.iter().enumerate().filter(|(_, value)| value.parse::<i64>().is_err())
            {
                let at = format!("values[{index}]");
                errors.push(invalid(&at, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
            }
        }
        for (index, value) in values.iter().enumerate() {
            let faults = constraint::label_value(value);
            if !faults.is_empty() {
                errors.push(invalid(&format!("values[{index}][{key}]"), value, &faults.join("; ")));
            }
        }
        match errors.as_slice() {
            [] => Ok(Requirement { key, operator, values }),
            [only] => Err(SelectorError(only.clone())),
            _ => Err(SelectorError(format!("[{}]", errors.join(", ")))),
        }
    }

    /// The key of the label.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How the value is compared.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values of the requirement, sorted, without duplicates.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.iter()
    }

    fn holds_for(&self, label: Option<&str>) -> bool {
        let Some(label) = label else {
            return matches!(self.operator, Operator::NotIn | Operator::NotEquals | Operator::DoesNotExist);
        };
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => self.values.has(label),
            Operator::NotIn | Operator::NotEquals => !self.values.has(label),
            Operator::Exists => true,
            Operator::DoesNotExist => false,
            Operator::GreaterThan => self.compared(label).is_some_and(|(label, bound)| label > bound),
            Operator::LessThan => self.compared(label).is_some_and(|(label, bound)| label < bound),
        }
    }

    fn compared(&self, label: &str) -> Option<(i64, i64)> {
        Some((label.parse().ok()?, self.values.iter().next()?.parse().ok()?))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.iter().collect::<Vec<_>>().join(","));
        match self.operator {
            Operator::Exists => out.write_str(key),
            Operator::DoesNotExist => write!(out, "!{key}"),
            Operator::In => write!(out, "{key} in ({values})"),
            Operator::NotIn => write!(out, "{key} notin ({values})"),
            Operator::Equals => write!(out, "{key}={values}"),
            Operator::DoubleEquals => write!(out, "{key}=={values}"),
            Operator::NotEquals => write!(out, "{key}!={values}"),
            Operator::GreaterThan => write!(out, "{key}>{values}"),
            Operator::LessThan => write!(out, "{key}<{values}"),
        }
    }
}

/// The text of an error at a path.
fn invalid(at: &str, value: &str, detail: &str) -> String {
    format!("{at}: Invalid value: {}: {detail}", value.shown())
}

#[cfg(test)]
mod tests;
