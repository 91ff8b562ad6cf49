//! Conditions under which a webhook is asked: expressions over what it would be sent.

use std::fmt;

use orch_expression::{
    budget::Budget,
    environment::Environment,
    error::ExpressionError,
    program::Program,
    types::Type,
    value::{Key, Value},
};

use super::review;
use crate::authorizer::{Attributes, Target};

/// The most conditions of one webhook.
pub const MAX_CONDITIONS: usize = 64;

/// Steps that all conditions of one request may take together.
const STEPS: u64 = 1_000_000;

/// The conditions of one webhook, compiled. All must hold.
#[derive(Clone, Default)]
pub struct Conditions {
    programs: Vec<Program>,
}

impl fmt::Debug for Conditions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(&self.programs).finish()
    }
}

/// What the conditions say.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The webhook is asked.
    Asked,
    /// A condition does not hold.
    Skipped,
    /// A condition has no value, and none of the others says that the webhook is not asked.
    Failed(String),
}

impl Conditions {
    /// Compiles the conditions. An error comes with the position of the condition.
    pub fn compile<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, (usize, ExpressionError)> {
        let environment = environment();
        let compile = |(position, text): (usize, &str)| {
            Program::compile(text, &environment, &Type::Bool).map_err(|error| (position, error))
        };
        let programs = texts.into_iter().enumerate().map(compile).collect::<Result<_, _>>()?;
        Ok(Conditions { programs })
    }

    /// Whether the webhook is asked about the request.
    pub(super) fn judge(&self, attributes: &Attributes<'_>) -> Verdict {
        if self.programs.is_empty() {
            return Verdict::Asked;
        }
        let variables = [("request", request(attributes))];
        let mut budget = Budget::new(STEPS);
        let mut problem = None;
        for program in &self.programs {
            match program.evaluate_within(&variables, &mut budget) {
                Ok(Value::Bool(true)) => {}
                Ok(Value::Bool(false)) => return Verdict::Skipped,
                Ok(other) => {
                    let text = format!("{:?} is of the type {}", program.text(), other.type_name());
                    problem = problem.or(Some(text));
                }
                Err(error) => problem = problem.or(Some(format!("{:?}: {error}", program.text()))),
            }
        }
        problem.map_or(Verdict::Asked, Verdict::Failed)
    }
}

/// What conditions see: the variable `request`, the `spec` of the review in version v1.
fn environment() -> Environment {
    let requirement = Type::object(
        "Requirement",
        [("key", Type::Text), ("operator", Type::Text), ("values", Type::list(Type::Text))],
    );
    let selector = |name| Type::object(name, [("requirements", Type::list(requirement.clone()))]);
    let resource = Type::object(
        "ResourceAttributes",
        [
            ("namespace", Type::Text),
            ("verb", Type::Text),
            ("group", Type::Text),
            ("version", Type::Text),
            ("resource", Type::Text),
            ("subresource", Type::Text),
            ("name", Type::Text),
            ("fieldSelector", selector("FieldSelectorAttributes")),
            ("labelSelector", selector("LabelSelectorAttributes")),
        ],
    );
    let path = Type::object("NonResourceAttributes", [("path", Type::Text), ("verb", Type::Text)]);
    let request = Type::object(
        "SubjectAccessReviewSpec",
        [
            ("resourceAttributes", resource),
            ("nonResourceAttributes", path),
            ("user", Type::Text),
            ("groups", Type::list(Type::Text)),
            ("extra", Type::map(Type::Text, Type::list(Type::Text))),
            ("uid", Type::Text),
        ],
    );
    Environment::new().with_variable("request", request)
}

/// All texts are there, empty ones too, so that a condition need not ask for each of them.
fn request(attributes: &Attributes<'_>) -> Value {
    let user = attributes.user;
    let texts = |texts: &[String]| Value::list(texts.iter().map(|text| Value::from(text.as_str())).collect());
    let extra = user.extra.iter().map(|(key, values)| (Key::from(key.as_str()), texts(values)));
    let target = match attributes.target {
        Target::Resource(target) => {
            let mut fields = vec![
                ("namespace", Value::from(target.namespace)),
                ("verb", Value::from(attributes.verb)),
                ("group", Value::from(target.group)),
                ("version", Value::from(target.version)),
                ("resource", Value::from(target.resource)),
                ("subresource", Value::from(target.subresource)),
                ("name", Value::from(target.name)),
            ];
            for (name, requirements) in [("fieldSelector", target.fields), ("labelSelector", target.labels)] {
                if !requirements.is_empty() {
                    let listed = Value::from_json(&review::listed(requirements));
                    fields.push((name, Value::object([("requirements", listed)])));
                }
            }
            ("resourceAttributes", Value::object(fields))
        }
        Target::Path(path) => {
            let fields = [("path", Value::from(path)), ("verb", Value::from(attributes.verb))];
            ("nonResourceAttributes", Value::object(fields))
        }
    };
    Value::object([
        target,
        ("user", Value::from(user.name.as_str())),
        ("groups", texts(&user.groups)),
        ("extra", Value::map(extra.collect())),
        ("uid", Value::from(user.uid.as_str())),
    ])
}

#[cfg(test)]
mod tests {
    use super::{Conditions, Verdict};
    use crate::{
        authorizer::{Attributes, ResourceTarget, Target},
        user::UserInfo,
    };

    fn judge(conditions: &[&str]) -> Verdict {
        let user = UserInfo::new("bob", ["devs"]);
        let target = ResourceTarget { resource: "pods", namespace: "a", ..ResourceTarget::default() };
        let attributes = Attributes { user: &user, verb: "get", target: Target::Resource(target) };
        Conditions::compile(conditions.iter().copied()).unwrap().judge(&attributes)
    }

    #[test]
    fn all_conditions_must_hold() {
        for (conditions, expected) in [
            (vec![], Verdict::Asked),
            (vec!["request.user == 'bob'"], Verdict::Asked),
            (vec!["'devs' in request.groups", "request.uid == ''"], Verdict::Asked),
            (vec!["has(request.resourceAttributes)", "!has(request.nonResourceAttributes)"], Verdict::Asked),
            (vec!["request.resourceAttributes.namespace == 'a'"], Verdict::Asked),
            (vec!["!has(request.resourceAttributes.labelSelector)"], Verdict::Asked),
            (vec!["request.user == 'alice'"], Verdict::Skipped),
            (vec!["true", "false"], Verdict::Skipped),
            // A condition that fails does not matter where another one does not hold.
            (vec!["request.nonResourceAttributes.path == '/'", "false"], Verdict::Skipped),
            (vec!["'a' in request.extra['a']", "request.user == 'alice'"], Verdict::Skipped),
        ] {
            assert_eq!(judge(&conditions), expected, "{conditions:?}");
        }
        let failed = judge(&["true", "request.nonResourceAttributes.path == '/'"]);
        let problem =
            "\"request.nonResourceAttributes.path == '/'\": 1:1: no such key: nonResourceAttributes";
        assert_eq!(failed, Verdict::Failed(problem.to_owned()));
    }

    #[test]
    fn conditions_that_cost_too_much_fail() {
        let costly = "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, \
                      [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, \
                      request.user == 'bob'))))))";
        assert!(matches!(judge(&[costly]), Verdict::Failed(problem) if problem.contains("more steps")));
    }

    #[test]
    fn conditions_that_are_wrong_are_refused() {
        for (text, expected) in [
            ("request.usr == 'bob'", "1:1: SubjectAccessReviewSpec has no field \"usr\""),
            ("request.user", "1:1: the expression has the type string, and not bool"),
            ("user == 'bob'", "1:1: undeclared name \"user\""),
        ] {
            let (position, error) = Conditions::compile(["true", text]).unwrap_err();
            assert_eq!((position, error.to_string().as_str()), (1, expected));
        }
    }
}
