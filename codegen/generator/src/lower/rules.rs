//! `x-orch-errors` and `x-orch-rules` to the model.

use std::collections::BTreeMap;

use orch_runtime::field_error::Reason;

use super::{Lowering, shape::own_format};
use crate::{
    diagnostic::Span,
    idl::{self, ErrorWords, Immutable, ObjectRule, Question, Schema, Severity, When, each_path},
    model::{
        Check, Condition, Constant, Constraints, Demand, Exception, Expressions, Immutability, Moment, Shows,
        Step, StringFormat, Test, Words,
    },
    source::{Node, Spanned, Value},
};

/// What `x-orch-errors` may name beside keywords that state a rule of the value.
const ALL: &str = "all";

/// The keywords whose errors can be worded, and `all` of them.
const WORDED: &[&str] = &[
    ALL,
    "required",
    "enum",
    "format",
    "pattern",
    "x-orch-format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// Keywords whose errors have the standard words, and the rule of `x-orch-rules` that says the same in
/// others.
const DETOURS: &[(&str, &str)] = &[
    ("uniqueItems", "write a rule with `unique` in `x-orch-rules` of the object, with its words, instead"),
    (
        "x-orch-list-map-keys",
        "write `uniqueItems: false` beside the keys, and a rule with `unique` and its words in `x-orch-rules` of \
         the object",
    ),
    (
        "x-orch-immutable",
        "write a rule with `immutable` in `x-orch-rules` of the object, with its words, instead",
    ),
    (
        "x-orch-union",
        "write rules with `atMostOne`, `atLeastOne`, `required` and `forbidden` in `x-orch-rules`, with their words, \
         instead",
    ),
];

impl Lowering<'_, '_> {
    /// The words of a value's own rules.
    pub(super) fn words(&mut self, schema: &Schema) -> BTreeMap<String, Words> {
        let mut all = BTreeMap::new();
        for (keyword, written) in schema.errors.iter().flat_map(|errors| &errors.0) {
            let name = keyword.value.as_str();
            if !WORDED.contains(&name) {
                let detour = DETOURS.iter().find(|(keyword, _)| *keyword == name);
                let (message, help) = match detour {
                    Some((_, help)) => (format!("`{name}` has no words of its own"), (*help).to_owned()),
                    None => (
                        format!("`{name}` has no error to word"),
                        crate::diagnostic::suggest::did_you_mean(name, WORDED),
                    ),
                };
                self.diagnostics.error(&keyword.span, message, help).code("E0221");
                continue;
            }
            let is_written = |name: &str| schema.keys.iter().any(|key| key.value == name);
            if !matches!(name, ALL | "required") && !is_written(name) {
                let help = "words stand beside the keyword that they are about: add it, or remove the words";
                self.diagnostics
                    .error(&keyword.span, format!("`{name}` is not written here"), help)
                    .code("E0221");
                continue;
            }
            let words = match written {
                ErrorWords::Message(text) => Words { message: Some(text.value.clone()), ..Words::default() },
                ErrorWords::Words(words) => self.said(&Said::from(&**words)),
            };
            if words.message.as_ref().is_some_and(|message| message.contains("{.")) {
                let help = "words of a keyword name its `{value}` alone; write a rule of `x-orch-rules`";
                self.diagnostics
                    .error(&keyword.span, "a message that names another value", help)
                    .code("E0221");
            }
            all.insert(name.to_owned(), words);
        }
        all
    }

    /// The rules about the members of an object.
    pub(super) fn checks(&mut self, schema: &Schema) -> Vec<Check> {
        let rules = schema.rules.iter().flatten();
        let mut checks = Vec::new();
        for rule in rules {
            match &rule.rules_of {
                Some(of) => checks.extend(self.shared(rule, of)),
                None => checks.extend(self.check(rule)),
            }
        }
        checks
    }

    /// The rules that another type shares.
    fn shared(&mut self, entry: &ObjectRule, of: &Spanned<String>) -> Vec<Check> {
        let ty = self.declared.find(&of.value);
        let shared: Vec<&ObjectRule> = match ty {
            Some(ty) if entry.shared.is_some() => {
                idl::shared(self.declared.list[ty.0].schema, entry).collect()
            }
            _ => Vec::new(),
        };
        if shared.is_empty() {
            let message = format!("`{}` shares no rules of this name", of.value);
            let help =
                "name a type as `core.v1.PodSpec`, and in `shared` what some of its rules say in `shared`";
            self.diagnostics.error(&of.span, message, help).code("E0222");
        }
        let mut checks: Vec<Check> = shared.into_iter().filter_map(|rule| self.check(rule)).collect();
        for check in &mut checks {
            let flag = |written: &Option<Spanned<bool>>, own: bool| {
                written.as_ref().map_or(own, |written| written.value)
            };
            check.moment = entry.on.as_ref().map_or(check.moment, |on| moment(on.value));
            check.is_first = flag(&entry.first, check.is_first);
            check.is_last = flag(&entry.last, check.is_last);
        }
        checks
    }

    fn check(&mut self, rule: &ObjectRule) -> Option<Check> {
        let field = rule.field.as_ref().map(idl::of_old);
        let of_old = field.as_ref().is_some_and(|(_, of_old)| *of_old);
        let field = field.map_or(Some(Vec::new()), |(field, _)| self.steps(&field))?;
        let when = rule.conditions();
        let when: Vec<Condition> = when.filter_map(|(path, test)| self.condition(path, test)).collect();
        let demand = self.demand(rule)?;
        let has_expression = rule.message_expression.is_some() || rule.shows_expression.is_some();
        let mut words = self.said(&Said { has_expression, ..Said::from(rule) });
        if rule.message_expression.is_some() && words.message.is_none() {
            words.message = Some(String::new());
        }
        if words.is_warning
            && matches!(demand, Demand::Required | Demand::Forbidden | Demand::Expression)
            && words.message.is_none()
        {
            let help = "say what the client is told: add `message`";
            self.diagnostics.error(&rule.span, "a warning without words", help).code("E0222");
        }
        if let Demand::AtLeastOne(members) = &demand
            && words.message.is_none()
        {
            words.message = Some(format!("must specify one of: {}", listed(members)));
        }
        let moment = rule.on.as_ref().map_or(Moment::Write, |on| moment(on.value));
        let is_otherwise = rule.otherwise.as_ref().is_some_and(|otherwise| otherwise.value);
        let accepts_unchanged = rule.unchanged.is_some();
        let is_first = rule.first.as_ref().is_some_and(|first| first.value);
        let is_last = rule.last.as_ref().is_some_and(|last| last.value);
        let is_alone = rule.alone.as_ref().is_some_and(|alone| alone.value);
        let stops = rule.stop.as_ref().is_some_and(|stop| stop.value);
        let is_told_once = rule.once.as_ref().is_some_and(|once| once.value);
        let is_anew = is_told_once || rule.anew.as_ref().is_some_and(|anew| anew.value);
        let exceptions = rule.exceptions().filter_map(|exception| self.exception(exception)).collect();
        let within = rule.within.as_ref().map_or(Some(Vec::new()), |within| self.steps(within))?;
        let (expressions, span) = (Expressions::default(), rule.span.clone());
        let check = Check {
            field,
            of_old,
            when,
            demand,
            within,
            words,
            moment,
            accepts_unchanged,
            is_otherwise,
            is_first,
            is_alone,
            stops,
            is_told_once,
            is_anew,
            exceptions,
            is_last,
            expressions,
            span,
        };
        Some(check)
    }

    fn exception(&mut self, written: &idl::Exception) -> Option<Exception> {
        let when = written.when().into_iter().flat_map(When::conditions);
        let when = when.filter_map(|(path, test)| self.condition(path, test)).collect();
        Some(Exception { field: self.steps(written.field())?, when })
    }

    /// The one thing that a rule demands.
    fn demand(&mut self, rule: &ObjectRule) -> Option<Demand> {
        let mut demands: Vec<Demand> = Vec::new();
        for (flag, demand) in [
            (&rule.required, Demand::Required),
            (&rule.forbidden, Demand::Forbidden),
            (&rule.ignored, Demand::Ignored),
        ] {
            if let Some(flag) = flag {
                self.only_true(flag);
                demands.push(demand);
            }
        }
        demands.extend(rule.equals.as_ref().map(|value| Demand::Equals(value.value)));
        demands.extend(rule.immutable.as_ref().map(|immutable| match immutable.value {
            Immutable::Flag(_) => Demand::Immutable(Immutability::Always),
            Immutable::OnceSet => Demand::Immutable(Immutability::OnceSet),
        }));
        demands.extend(rule.rule.as_ref().map(|_| Demand::Expression));
        demands.extend(rule.function.as_ref().map(|function| Demand::Function(function.value.clone())));
        if let Some(others) = &rule.unique {
            let others = others.iter().filter_map(|path| self.steps(path)).collect();
            let by = rule.by.iter().flatten().filter_map(|path| self.steps(path)).collect();
            demands.push(Demand::Unique { others, by });
        }
        if let Some(paths) = &rule.at_least_one {
            demands.push(Demand::AtLeastOne(paths.iter().filter_map(|path| self.steps(path)).collect()));
        }
        if let Some(paths) = &rule.at_most_one {
            let members = paths.iter().filter_map(|path| self.steps(path)).collect();
            let told_as = rule.told_as.iter().flat_map(|told_as| &told_as.0);
            let told_as = told_as.map(|(field, told)| (field.value.clone(), told.value.clone())).collect();
            demands.push(Demand::AtMostOne { members, told_as });
        }
        if let Some(path) = &rule.refers_to {
            let is_correct = rule.correct.as_ref().is_some_and(|correct| correct.value);
            let (path, in_old) = idl::of_old(path);
            let each = |text| Spanned { value: text, span: path.span.clone() };
            let paths = each_path(&path.value).into_iter().map(each);
            let paths = paths.filter_map(|path| self.steps(&path)).collect();
            let by = rule.by.iter().flatten().filter_map(|path| self.steps(path)).collect();
            demands.push(Demand::RefersTo { paths, is_correct, in_old, by });
        }
        if let Some(path) = &rule.differs_from {
            demands.push(Demand::DiffersFrom(self.steps(path)?));
        }
        let (constraints, format) = value(rule);
        let of_value = Demand::Value(Box::new(constraints), format);
        if !of_value.rules().is_empty() {
            demands.push(of_value);
        }
        if demands.len() != 1 {
            let help = "write one of `required`, `forbidden`, `enum`, `format`, `minimum` with `maximum`, `unique`, \
                        `refersTo`, `immutable`, `atLeastOne`, `atMostOne`, `rule` ...";
            self.diagnostics.error(&rule.span, "a rule demands one thing", help).code("E0222");
        }
        demands.pop()
    }

    fn only_true(&mut self, flag: &Spanned<bool>) {
        if !flag.value {
            self.diagnostics
                .error(&flag.span, "a rule that demands nothing", "write `true`, or remove the rule")
                .code("E0222");
        }
    }

    /// A path, with a report where the text is not one.
    pub(super) fn steps(&mut self, text: &Spanned<String>) -> Option<Vec<Step>> {
        let steps = Step::path(&text.value);
        if steps.is_none() {
            let help = "write a path such as `.spec.ports[*].name`";
            self.diagnostics.error(&text.span, format!("`{}` is no path", text.value), help).code("E0211");
        }
        steps
    }

    pub(super) fn condition(&mut self, path: &Spanned<String>, test: &idl::Test) -> Option<Condition> {
        let steps = self.steps(path)?;
        let test = match test {
            idl::Test::Values(node) => Test::OneOf(self.constants(node)?),
            idl::Test::Question(question) => self.question(question)?,
        };
        Some(Condition { path: steps, test, span: path.span.clone() })
    }

    fn question(&mut self, question: &Question) -> Option<Test> {
        let bound = |bound: &Option<Spanned<f64>>| bound.as_ref().map(|bound| bound.value as i64);
        let asked = [
            question.given.as_ref().map(|given| Test::Given(given.value)),
            match &question.not {
                Some(node) => Some(Test::NoneOf(self.constants(node)?)),
                None => None,
            },
            question.matches.as_ref().map(|pattern| Test::Matches(pattern.value.clone())),
            (question.least.is_some() || question.most.is_some())
                .then(|| Test::Between(bound(&question.least), bound(&question.most))),
            question.changed.as_ref().map(|changed| Test::Changed(changed.value)),
        ];
        let mut asked = asked.into_iter().flatten();
        let first = asked.next();
        if first.is_none() || asked.next().is_some() {
            let help =
                "write one of `given: true`, `not: [...]`, `matches`, `changed: true`, and `least` or `most`";
            self.diagnostics.error(&question.span, "a condition asks one thing", help).code("E0223");
        }
        first
    }

    /// One constant, or a list of them.
    fn constants(&mut self, node: &Node) -> Option<Vec<Constant>> {
        match &node.value {
            Value::List(items) => items.iter().map(|item| self.constant(item)).collect(),
            _ => Some(vec![self.constant(node)?]),
        }
    }

    fn constant(&mut self, node: &Node) -> Option<Constant> {
        match &node.value {
            Value::Boolean(value) => Some(Constant::Boolean(*value)),
            Value::Integer(value) => Some(Constant::Integer(*value)),
            Value::String(text) => Some(Constant::Text(text.clone())),
            Value::Reported => None,
            _ => {
                let help = "write a text, a whole number or a boolean, or `{given: true}`";
                self.diagnostics
                    .error(&node.span, "no constant that a value can be compared with", help)
                    .code("E0223");
                None
            }
        }
    }

    fn said(&mut self, said: &Said<'_>) -> Words {
        let shows = said.shows.map(|shows| match (shows.value.as_str(), Step::path(&shows.value)) {
            (".", _) => Shows::Value(Vec::new()),
            (_, Some(steps)) if !steps.is_empty() => Shows::Value(steps),
            _ => Shows::Text(shows.value.clone()),
        });
        if said.message.is_none() && !said.has_expression && (said.reason.is_some() || shows.is_some()) {
            let help = "the standard words go with the standard reason: add `message`";
            self.diagnostics
                .error(said.span, "a reason or a shown value without a message", help)
                .code("E0221");
        }
        Words {
            message: said.message.map(|text| text.value.clone()),
            reason: said.reason,
            place: said.place.and_then(|place| self.steps(place)),
            is_warning: said.severity == Some(Severity::Warning),
            shows,
        }
    }
}

fn moment(written: idl::Moment) -> Moment {
    match written {
        idl::Moment::Write => Moment::Write,
        idl::Moment::Change => Moment::Change,
        idl::Moment::Always => Moment::Always,
    }
}

/// The words of a keyword or a rule, as written.
struct Said<'s> {
    message: Option<&'s Spanned<String>>,
    reason: Option<Reason>,
    place: Option<&'s Spanned<String>>,
    severity: Option<Severity>,
    shows: Option<&'s Spanned<String>>,
    /// Whether an expression makes the message.
    has_expression: bool,
    span: &'s Span,
}

macro_rules! said {
    ($written:ty) => {
        impl<'s> From<&'s $written> for Said<'s> {
            fn from(written: &'s $written) -> Self {
                Said {
                    message: written.message.as_ref(),
                    reason: written.reason.as_ref().map(|reason| reason.value),
                    place: written.field_path.as_ref(),
                    severity: written.severity.as_ref().map(|severity| severity.value),
                    shows: written.shows.as_ref(),
                    has_expression: false,
                    span: &written.span,
                }
            }
        }
    };
}
said!(idl::Words);
said!(ObjectRule);

/// What OpenAPI's own keywords of a rule say.
fn value(rule: &ObjectRule) -> (Constraints, Option<StringFormat>) {
    let number = |keyword: &Option<Spanned<f64>>| keyword.as_ref().map(|number| number.value);
    let count = |keyword: &Option<Spanned<u64>>| keyword.as_ref().map(|count| count.value);
    let values = rule.enumeration.iter().flat_map(|values| &values.value);
    let constraints = Constraints {
        enum_values: values.map(|value| value.value.clone()).collect(),
        format_fn: rule.own_format.as_ref().map(own_format),
        pattern: rule.pattern.as_ref().map(|pattern| pattern.value.clone()),
        minimum: number(&rule.minimum),
        maximum: number(&rule.maximum),
        min_length: count(&rule.min_length),
        max_length: count(&rule.max_length),
        min_items: count(&rule.min_items),
        max_items: count(&rule.max_items),
        ..Constraints::default()
    };
    (constraints, rule.format.as_ref().and_then(|format| StringFormat::of_word(format.value.word())))
}

/// `` `a`, `b` ``
fn listed(members: &[Vec<Step>]) -> String {
    let name = |member: &Vec<Step>| match member.last() {
        Some(Step::Field(name)) => format!("`{name}`"),
        _ => String::new(),
    };
    members.iter().map(name).collect::<Vec<_>>().join(", ")
}
