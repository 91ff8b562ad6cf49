//! Label selectors: requirements on single labels, all of which have to hold.
//!
//! In text: `a`, `!a`, `a=x`, `a==x`, `a!=x`, `a in (x,y)`, `a notin (x,y)`, `a>1`, `a<1`, joined by commas. As an
//! object: `matchLabels` and `matchExpressions`. `!=` and `notin` hold for objects without the label.

mod parse;

use std::fmt;

use orch_runtime::{Tree, constraint, field_error::Shown as _};

use super::SelectorError;

/// A label selector. The empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    /// Sorted by key.
    requirements: Vec<Requirement>,
    nothing: bool,
}

/// A condition on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted, each once.
    values: Vec<String>,
}

/// How a label's value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Present with one of the values.
    In,
    /// Absent, or with none of the values.
    NotIn,
    /// Present with the value; written `=`.
    Equals,
    /// The same, written `==`.
    DoubleEquals,
    /// Absent, or with another value.
    NotEquals,
    /// Present.
    Exists,
    /// Absent.
    DoesNotExist,
    /// Present with an integer above the value.
    GreaterThan,
    /// Present with an integer below the value.
    LessThan,
}

impl LabelSelector {
    /// Selects every object.
    pub fn everything() -> Self {
        LabelSelector::default()
    }

    /// Selects no object: what an absent selector object means.
    pub fn nothing() -> Self {
        LabelSelector { requirements: Vec::new(), nothing: true }
    }

    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        parse::parse(text).map(LabelSelector::of)
    }

    /// Reads the object form: `{matchLabels: {..}, matchExpressions: [{key, operator, values}]}`. An empty object
    /// selects everything.
    pub fn from_object(selector: &Tree) -> Result<Self, SelectorError> {
        let mut requirements = Vec::new();
        for (key, value) in selector.get("matchLabels").and_then(Tree::as_object).into_iter().flatten() {
            let value = value.as_str().unwrap_or_default().to_owned();
            requirements.push(Requirement::new(key.clone(), Operator::Equals, vec![value])?);
        }
        for expression in selector.get("matchExpressions").and_then(Tree::as_array).into_iter().flatten() {
            requirements.push(Requirement::from_object(expression)?);
        }
        Ok(LabelSelector::of(requirements))
    }

    /// Whether objects with these labels are selected; `label` gives the value of a label that is present.
    pub fn matches<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        !self.nothing
            && self.requirements.iter().all(|requirement| requirement.holds_for(label(&requirement.key)))
    }

    /// Whether every object is selected.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty() && !self.nothing
    }

    /// The conditions, by key.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// The only value that `key` may have, where the selector pins it to one.
    pub fn requires_exact(&self, key: &str) -> Option<&str> {
        let requirement = self.requirements.iter().find(|requirement| requirement.key == key)?;
        match (requirement.operator, requirement.values.as_slice()) {
            (Operator::In | Operator::Equals | Operator::DoubleEquals, [only]) => Some(only),
            _ => None,
        }
    }

    fn of(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|left, right| left.key.cmp(&right.key));
        LabelSelector { requirements, nothing: false }
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
    /// A condition that obeys the rules of labels and of its operator.
    pub fn new(key: String, operator: Operator, mut values: Vec<String>) -> Result<Self, SelectorError> {
        values.sort_unstable();
        values.dedup();
        let mut errors = Vec::new();
        errors.extend(bad_key("key", &key));
        errors.extend(wrong_number(operator, &values));
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

    /// The label.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The comparison.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// What the label is compared with, sorted, each once.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    fn from_object(expression: &Tree) -> Result<Self, SelectorError> {
        let text = |name: &str| expression.get(name).and_then(Tree::as_str).unwrap_or_default();
        let operator = match text("operator") {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            other => {
                return Err(SelectorError(format!(
                    "{} is not a valid label selector operator",
                    other.shown()
                )));
            }
        };
        let values = expression.get("values").and_then(Tree::as_array).into_iter().flatten();
        let values = values.map(|value| value.as_str().unwrap_or_default().to_owned()).collect();
        Requirement::new(text("key").to_owned(), operator, values)
    }

    fn holds_for(&self, label: Option<&str>) -> bool {
        let Some(label) = label else {
            return matches!(self.operator, Operator::NotIn | Operator::NotEquals | Operator::DoesNotExist);
        };
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => self.has(label),
            Operator::NotIn | Operator::NotEquals => !self.has(label),
            Operator::Exists => true,
            Operator::DoesNotExist => false,
            Operator::GreaterThan => self.compared(label).is_some_and(|(label, bound)| label > bound),
            Operator::LessThan => self.compared(label).is_some_and(|(label, bound)| label < bound),
        }
    }

    fn has(&self, label: &str) -> bool {
        self.values.binary_search_by(|value| value.as_str().cmp(label)).is_ok()
    }

    fn compared(&self, label: &str) -> Option<(i64, i64)> {
        Some((label.parse().ok()?, self.values.first()?.parse().ok()?))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(","));
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

fn bad_key(at: &str, key: &str) -> Option<String> {
    let faults = constraint::qualified_name(key);
    (!faults.is_empty()).then(|| invalid(at, key, &faults.join("; ")))
}

fn wrong_number(operator: Operator, values: &[String]) -> Option<String> {
    let (fits, detail) = match operator {
        Operator::In | Operator::NotIn => {
            (!values.is_empty(), "for 'in', 'notin' operators, values set can't be empty")
        }
        Operator::Equals | Operator::DoubleEquals | Operator::NotEquals => {
            (values.len() == 1, "exact-match compatibility requires one single value")
        }
        Operator::Exists | Operator::DoesNotExist => {
            (values.is_empty(), "values set must be empty for exists and does not exist")
        }
        Operator::GreaterThan | Operator::LessThan => {
            (values.len() == 1, "for 'Gt', 'Lt' operators, exactly one value is required")
        }
    };
    if fits {
        return None;
    }
    let shown: Vec<String> = values.iter().map(String::shown).collect();
    Some(format!("values: Invalid value: [{}]: {detail}", shown.join(",")))
}

fn invalid(at: &str, value: &str, detail: &str) -> String {
    format!("{at}: Invalid value: {}: {detail}", value.shown())
}

#[cfg(test)]
mod tests;
