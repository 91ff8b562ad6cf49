//! Random rules over the type of `subject.yaml`, of right types by how they are made.

use crate::dice::Dice;

/// A rule.
pub fn rule(dice: &mut Dice) -> String {
    Maker::new(dice).truth(4)
}

/// An expression that makes a message.
pub fn message(dice: &mut Dice) -> String {
    Maker::new(dice).text(3)
}

struct Maker<'d> {
    dice: &'d mut Dice,
    /// What every second field is taken of.
    subject: &'static str,
    /// Names and types of the variables of macros.
    locals: Vec<(String, Kind)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Int,
    Text,
    Part,
}

impl<'d> Maker<'d> {
    fn new(dice: &'d mut Dice) -> Self {
        // An old value makes a rule one about a change.
        let subject = if dice.below(6) == 0 { "oldSelf" } else { "self" };
        Maker { dice, subject, locals: Vec::new() }
    }

    fn of(&mut self) -> &'static str {
        if self.dice.below(2) == 0 { self.subject } else { "self" }
    }

    fn local(&mut self, kind: Kind) -> Option<String> {
        let known: Vec<&str> =
            self.locals.iter().filter(|(_, of)| *of == kind).map(|(name, _)| name.as_str()).collect();
        if known.is_empty() { None } else { Some(self.dice.one(&known).to_owned()) }
    }

    /// What a part of an expression makes with a variable of a macro in scope.
    fn with<T>(&mut self, kind: Kind, part: impl FnOnce(&mut Self, &str) -> T) -> T {
        let name = format!("v{}", self.locals.len());
        self.locals.push((name.clone(), kind));
        let made = part(self, &name);
        self.locals.pop();
        made
    }

    fn truth(&mut self, depth: usize) -> String {
        let of = self.of();
        if depth == 0 {
            let field = self.dice.one(&["flag", "flag", "maybeFlag"]);
            return match self.dice.below(4) {
                0 => self.dice.one(&["true", "false"]).to_owned(),
                1 => {
                    let field = self.dice.one(&[
                        "maybe",
                        "share",
                        "maybeFlag",
                        "note",
                        "mode",
                        "numbers",
                        "texts",
                        "tags",
                        "parts",
                        "part",
                        "amount",
                        "when",
                        "port",
                        "must",
                        "data",
                        "nothing",
                        "silence",
                        "modes",
                        "about",
                    ]);
                    format!("has({of}.{field})")
                }
                _ => format!("{of}.{field}"),
            };
        }
        let below = depth - 1;
        let number = self.dice.below(30);
        match number {
            0 | 1 => format!("({} && {})", self.truth(below), self.truth(below)),
            2 | 3 => format!("({} || {})", self.truth(below), self.truth(below)),
            4 => format!("!({})", self.truth(below)),
            5 | 6 => {
                let sign = self.dice.one(&["<", "<=", ">", ">=", "==", "!="]);
                format!("{} {sign} {}", self.number(below), self.number(below))
            }
            7 => {
                let sign = self.dice.one(&["<", "<=", ">", ">=", "==", "!="]);
                format!("{} {sign} {}", self.text(below), self.text(below))
            }
            8 => {
                let sign = self.dice.one(&["<", "<=", ">", ">=", "==", "!="]);
                format!("{} {sign} {}", self.share(below), self.share(below))
            }
            9 => {
                let method = self.dice.one(&["contains", "startsWith", "endsWith"]);
                format!("{}.{method}({})", self.text(below), self.text(below))
            }
            10 => format!("{} in {}", self.text(below), self.texts(below)),
            11 => format!("({} ? {} : {})", self.truth(below), self.truth(below), self.truth(below)),
            12 => {
                let name = self.dice.one(&["all", "exists", "exists_one"]);
                let range = self.numbers(below);
                let body = self.with(Kind::Int, |maker, name| (name.to_owned(), maker.truth(below)));
                format!("{range}.{name}({}, {})", body.0, body.1)
            }
            13 => {
                let name = self.dice.one(&["all", "exists", "exists_one"]);
                let body = self.with(Kind::Part, |maker, name| (name.to_owned(), maker.truth(below)));
                format!("{of}.parts.{name}({}, {})", body.0, body.1)
            }
            14 => {
                let name = self.dice.one(&["all", "exists"]);
                let body = self.with(Kind::Text, |maker, key| {
                    let key = key.to_owned();
                    maker.with(Kind::Text, |maker, value| (key, value.to_owned(), maker.truth(below)))
                });
                format!("{of}.tags.{name}({}, {}, {})", body.0, body.1, body.2)
            }
            15 => format!("{} {} {}", self.texts(below), self.dice.one(&["==", "!="]), self.texts(below)),
            16 => {
                let field = self.dice.one(&["part", "parts", "tags", "numbers", "modes", "about"]);
                format!("{of}.{field} == self.{field}")
            }
            17 => {
                let sign = self.dice.one(&["<", "<=", ">", ">=", "==", "!="]);
                format!("{of}.amount {sign} quantity('{}')", self.dice.one(&["1", "500m", "1Gi", "-2k"]))
            }
            18 => format!("{of}.when < timestamp('2024-06-01T00:00:00Z')"),
            19 => {
                let port = format!("{of}.port");
                let number = self.number(below);
                self.dice
                    .one(&[
                        format!("{port} == {number}").as_str(),
                        format!("(type({port}) == int ? {port} > {number} : {port} != 'a')").as_str(),
                        format!("{port} < {number}").as_str(),
                    ])
                    .to_owned()
            }
            20..=25 => self.of_any_value(number, of, below),
            _ => self.of_optional_part(of, below),
        }
    }

    /// About parts that may be absent, and what stands for them then.
    fn of_optional_part(&mut self, of: &str, below: usize) -> String {
        let [text, other, number] = [self.text(below), self.text(below), self.number(below)];
        let forms = [
            format!("{of}.?maybeFlag.orValue({number} > 0)"),
            format!("{of}.?part.?weight.orValue({number}) < 2"),
            format!("{of}.?part.weight.hasValue() || {of}.?mode.hasValue()"),
            format!("{of}.?share.orValue(0.5) >= 1.0"),
            format!("{of}.?mode.orValue({text}) == {other}"),
            format!("{of}.?nothing.hasValue() && {of}.?silence.orValue('a') != {text}"),
            format!("{of}.tags[?{text}].orValue({other}) == 'a' || {of}.?tags[?'b'].hasValue()"),
            format!("{text} in {of}.?texts.orValue([]) || {text} in {of}.?modes.orValue([])"),
            format!("{text} in {of}.?tags.orValue({{}}) || 'a' in {of}.?about.?annotations.orValue({{}})"),
            format!("{of}.?numbers.orValue([]).exists(n, n == {number})"),
            format!("{of}.?numbers.orValue([]).all(index, n, index < n || n == {number})"),
            format!(
                "{of}.?parts.orValue([]).exists(p, p.?weight.orValue(1) == {number} || p.name == {text})"
            ),
            format!("{of}.?tags.orValue({{}}).all(key, key != {text})"),
            format!("{of}.?tags.orValue({{}}).exists(key, value, key + value == {text})"),
            format!("cel.bind(found, {of}.?part, found.?name.orValue('') == {text} || !found.hasValue())"),
            format!("{of}.?part == self.?part && {of}.?texts.orValue([{text}]).size() < 2"),
            format!("{text}.matches('^a') || {text}.matches('b$') && !{other}.matches('^a.*b$')"),
        ];
        self.dice.one(&forms.each_ref().map(String::as_str)).to_owned()
    }

    /// About values that can be null, words and metadata.
    fn of_any_value(&mut self, number: usize, of: &str, below: usize) -> String {
        match number {
            20 => {
                let body = self.with(Kind::Int, |maker, name| (name.to_owned(), maker.truth(below)));
                format!("cel.bind({}, {}, {})", body.0, self.number(below), body.1)
            }
            21 => {
                let sign = self.dice.one(&["<", "<=", ">", ">=", "==", "!="]);
                format!("{of}.nothing {sign} {}", self.number(below))
            }
            22 => {
                let sign = self.dice.one(&["<", ">=", "==", "!="]);
                format!("{} {sign} {of}.silence", self.text(below))
            }
            23 => format!("{of}.silence.{}({})", self.dice.one(&["contains", "matches"]), "'a'"),
            24 => format!("{} in {of}.modes", self.text(below)),
            _ => self
                .dice
                .one(&[
                    format!("dyn({of}.nothing) == null").as_str(),
                    format!("cel.bind(n, {of}.nothing, n == 1 || n > 0)").as_str(),
                    format!("({of}.flag ? {of}.nothing : 1) == 1").as_str(),
                    format!("'a' in {of}.about.annotations").as_str(),
                ])
                .to_owned(),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        let of = self.of();
        if depth == 0 {
            if let (0, Some(local)) = (self.dice.below(2), self.local(Kind::Int)) {
                return local;
            }
            if let (0, Some(part)) = (self.dice.below(2), self.local(Kind::Part)) {
                return format!("{part}.weight");
            }
            return match self.dice.below(3) {
                0 => self.dice.one(&["0", "1", "2", "-1", "9223372036854775807"]).to_owned(),
                1 => format!("{of}.maybe"),
                _ => format!("{of}.{}", self.dice.one(&["least", "most"])),
            };
        }
        let below = depth - 1;
        match self.dice.below(17) {
            0..=3 => {
                let sign = self.dice.one(&["+", "-", "*", "/", "%"]);
                format!("({} {sign} {})", self.number(below), self.number(below))
            }
            4 => format!("size({})", self.text(below)),
            5 => format!("{}.size()", self.numbers(below)),
            6 => format!("{}[{}]", self.numbers(below), self.number(below)),
            7 => format!("{}.sum()", self.numbers(below)),
            8 => format!("{of}.?maybe.orValue({})", self.number(below)),
            9 => format!("({} ? {} : {})", self.truth(below), self.number(below), self.number(below)),
            10 => format!("-({})", self.number(below)),
            11 => format!("int({})", self.share(below)),
            12 => format!("{of}.tags.sizes()"),
            13 => format!("{of}.modes.sizes()"),
            14 => format!("{of}.texts.sizes()"),
            15 => format!("-({of}.nothing)"),
            _ => format!("{}.indexOf({})", self.text(below), self.text(below)),
        }
    }

    fn share(&mut self, depth: usize) -> String {
        let of = self.of();
        if depth == 0 || self.dice.below(2) == 0 {
            return match self.dice.below(3) {
                0 => self.dice.one(&["0.0", "0.5", "-1.0", "1e300"]).to_owned(),
                1 => format!("{of}.share"),
                _ => format!("{of}.whole"),
            };
        }
        let below = depth - 1;
        if self.dice.below(2) == 0 {
            format!("double({})", self.number(below))
        } else {
            let sign = self.dice.one(&["+", "-", "*", "/"]);
            format!("({} {sign} {})", self.share(below), self.share(below))
        }
    }

    fn text(&mut self, depth: usize) -> String {
        let of = self.of();
        if depth == 0 {
            if let (0, Some(local)) = (self.dice.below(2), self.local(Kind::Text)) {
                return local;
            }
            if let (0, Some(part)) = (self.dice.below(2), self.local(Kind::Part)) {
                return format!("{part}.name");
            }
            return match self.dice.below(4) {
                0 => self.dice.one(&["''", "'a'", "'b'", "'é'"]).to_owned(),
                1 => format!("{of}.note"),
                2 => format!("{of}.mode"),
                _ => format!("{of}.{}", self.dice.one(&["title", "must"])),
            };
        }
        let below = depth - 1;
        match self.dice.below(9) {
            0 | 1 => format!("({} + {})", self.text(below), self.text(below)),
            2 => format!("{of}.tags[{}]", self.text(below)),
            3 => format!("{of}.tags.{}", self.dice.one(&["a", "b"])),
            4 => format!("string({})", self.number(below)),
            5 => format!("{}.upperAscii()", self.text(below)),
            6 => format!("({} ? {} : {})", self.truth(below), self.text(below), self.text(below)),
            7 => format!("'%d %s'.format([{}, {}])", self.number(below), self.text(below)),
            _ => format!("{of}.?part.?name.orValue({})", self.text(below)),
        }
    }

    fn texts(&mut self, depth: usize) -> String {
        let of = self.of();
        match self.dice.below(5) {
            0 => "['a', 'b']".to_owned(),
            1 => format!("{of}.parts.map(part, part.name)"),
            2 if depth > 0 => format!("[{}, {}]", self.text(depth - 1), self.text(depth - 1)),
            3 => format!("({of}.texts + self.texts)"),
            _ => format!("{of}.texts"),
        }
    }

    fn numbers(&mut self, depth: usize) -> String {
        let of = self.of();
        if depth == 0 || self.dice.below(2) == 0 {
            return format!("{of}.numbers");
        }
        let below = depth - 1;
        match self.dice.below(4) {
            0 => format!("[{}, {}]", self.number(below), self.number(below)),
            1 => format!("{of}.numbers.transformList(index, number, index * number)"),
            2 => {
                let body = self.with(Kind::Int, |maker, name| (name.to_owned(), maker.truth(below)));
                format!("{of}.numbers.filter({}, {})", body.0, body.1)
            }
            _ => format!("({of}.numbers + self.numbers)"),
        }
    }
}
