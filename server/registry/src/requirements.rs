//! Selectors as authorizers see them: what they require, one key at a time.

use orch_auth::authorizer::selector::{Operator, Requirement};
use orch_machinery::selector::{
    field::FieldSelector,
    label::{self, LabelSelector},
};

/// The requirements of a field selector. A text that cannot be parsed requires nothing: authorization can
/// only become harder without it.
pub fn of_fields(text: &str) -> Vec<Requirement> {
    let selector = FieldSelector::parse(text).unwrap_or_default();
    let requirement = |term: &orch_machinery::selector::field::Term| Requirement {
        key: term.path.clone(),
        operator: if term.negated { Operator::NotIn } else { Operator::In },
        values: vec![term.value.clone()],
    };
    selector.terms().iter().map(requirement).collect()
}

/// The requirements of a label selector, without comparisons of numbers, which access reviews do not have.
pub fn of_labels(text: &str) -> Vec<Requirement> {
    let selector = LabelSelector::parse(text).unwrap_or_default();
    let requirement = |it: &label::Requirement| {
        let operator = match it.operator() {
            label::Operator::In | label::Operator::Equals | label::Operator::DoubleEquals => Operator::In,
            label::Operator::NotIn | label::Operator::NotEquals => Operator::NotIn,
            label::Operator::Exists => Operator::Exists,
            label::Operator::DoesNotExist => Operator::DoesNotExist,
            label::Operator::GreaterThan | label::Operator::LessThan => return None,
        };
        Some(Requirement {
            key: it.key().to_owned(),
            operator,
            values: it.values().map(str::to_owned).collect(),
        })
    };
    selector.requirements().iter().filter_map(requirement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(requirements: &[Requirement]) -> Vec<String> {
        requirements.iter().map(|it| format!("{} {:?} {:?}", it.key, it.operator, it.values)).collect()
    }

    #[test]
    fn texts_become_requirements() {
        assert_eq!(
            shown(&of_fields("spec.nodeName=a,metadata.name!=b")),
            [r#"metadata.name NotIn ["b"]"#, r#"spec.nodeName In ["a"]"#]
        );
        assert_eq!(
            shown(&of_labels("a=x,b in (y,z),!c,d,e notin (w),f>1")),
            [r#"a In ["x"]"#, r#"b In ["y", "z"]"#, "c DoesNotExist []", "d Exists []", r#"e NotIn ["w"]"#]
        );
        assert!(of_fields("nonsense").is_empty() && of_labels("a in (").is_empty());
    }
}
