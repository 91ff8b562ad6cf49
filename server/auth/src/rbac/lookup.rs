//! Which rules of a long list match a request, without looking at each of them.
//!
//! For every value of every list there is the set of rules that have it. The rules that match are those that
//! are in a set of the verb, in one of the group, one of the resource and one of the name: four intersections
//! of bits, 64 rules at a time. All sets together are no larger than the lists, whose texts are not copied.

use std::cmp::Ordering;

use super::{permission::Permission, policy::PolicyRule, rule::Rule};
use crate::authorizer::ResourceTarget;

/// See the module. It belongs to the rules that it was made of.
pub(super) struct Lookup {
    verbs: Values,
    groups: Values,
    resources: Values,
    names: Values,
    /// The rules that are about all names.
    unnamed: Option<Set>,
}

/// The values of one list of all rules.
struct Values {
    list: List,
    /// Sorted by their texts.
    values: Box<[Value]>,
}

/// One list of a rule.
type List = fn(&PolicyRule) -> &[String];

struct Value {
    /// The first rule that has it, and its place there: where its text is.
    rule: u32,
    at: u32,
    rules: Set,
}

/// A set of rules that is not empty, by number: 64 of them in one word. Words without rules are left out.
struct Set {
    first: Word,
    more: Box<[Word]>,
}

#[derive(Clone, Copy)]
struct Word {
    number: u32,
    bits: u64,
}

/// A rule that is in any of these has the value that is looked for, or a pattern for it.
type Union<'a> = [Option<&'a Set>; 3];

impl Lookup {
    pub(super) fn new(rules: &[Rule]) -> Self {
        let numbered = (0..).zip(rules);
        let unnamed = numbered.filter(|(_, rule)| rule.policy().names.is_empty()).map(|(number, _)| number);
        Lookup {
            verbs: Values::new(rules, |rule| &rule.verbs),
            groups: Values::new(rules, |rule| &rule.groups),
            resources: Values::new(rules, |rule| &rule.resources),
            names: Values::new(rules, |rule| &rule.names),
            unnamed: Set::new(unnamed),
        }
    }

    /// Whether one of the rules allows a request for a resource.
    pub(super) fn allows(&self, rules: &[Rule], verb: &str, target: &ResourceTarget<'_>) -> bool {
        let (own, of_every) = match target.subresource {
            "" => ([target.resource, "", ""], None),
            sub => ([target.resource, "/", sub], Some(["*", "/", sub])),
        };
        let named = self.names.find(rules, whole(target.name));
        self.has(rules, verb, target.group, own, of_every, named)
    }

    /// Whether one of the rules includes a permission for a resource.
    pub(super) fn includes(&self, rules: &[Rule], permission: &Permission<'_>) -> bool {
        let Permission::Resource { verb, group, resource, name } = *permission else { return false };
        let of_every = resource.split_once('/').map(|(_, sub)| ["*", "/", sub]);
        let named = name.and_then(|name| self.names.find(rules, whole(name)));
        self.has(rules, verb, group, whole(resource), of_every, named)
    }

    /// Whether a rule has all of these, and is about all names or in the set of those that are `named`.
    fn has(
        &self,
        rules: &[Rule],
        verb: &str,
        group: &str,
        own: [&str; 3],
        of_every: Option<[&str; 3]>,
        named: Option<&Set>,
    ) -> bool {
        let Lookup { verbs, groups, resources, unnamed, .. } = self;
        let of_every = of_every.and_then(|of_every| resources.find(rules, of_every));
        let unions: [Union<'_>; 4] = [
            [verbs.find(rules, whole(verb)), verbs.find(rules, whole("*")), None],
            [groups.find(rules, whole(group)), groups.find(rules, whole("*")), None],
            [resources.find(rules, own), resources.find(rules, whole("*")), of_every],
            [named, unnamed.as_ref(), None],
        ];
        // The shortest one says where to look.
        let Some(shortest) = unions.iter().min_by_key(|union| length(union)) else { return false };
        let in_all =
            |word: Word| unions.iter().fold(word.bits, |bits, union| bits & bits_of(union, word.number)) != 0;
        shortest.iter().flatten().flat_map(|set| set.words()).any(in_all)
    }
}

/// A text in one piece.
fn whole(text: &str) -> [&str; 3] {
    [text, "", ""]
}

fn length(union: &Union<'_>) -> usize {
    union.iter().flatten().map(|set| 1 + set.more.len()).sum()
}

fn bits_of(union: &Union<'_>, word: u32) -> u64 {
    union.iter().flatten().fold(0, |bits, set| bits | set.bits(word))
}

impl Values {
    fn new(rules: &[Rule], list: List) -> Self {
        let mut entries: Vec<(&str, u32, u32)> = Vec::new();
        for (number, rule) in (0..).zip(rules) {
            entries.extend((0..).zip(list(rule.policy())).map(|(at, text)| (text.as_str(), number, at)));
        }
        entries.sort_unstable();
        let value = |same: &[(&str, u32, u32)]| {
            let (_, rule, at) = *same.first()?;
            Some(Value { rule, at, rules: Set::new(same.iter().map(|(_, rule, _)| *rule))? })
        };
        let values = entries.chunk_by(|(a, ..), (b, ..)| a == b).filter_map(value).collect();
        Values { list, values }
    }

    /// The rules that have the text that these pieces make together.
    fn find(&self, rules: &[Rule], text: [&str; 3]) -> Option<&Set> {
        let of = |value: &Value| (self.list)(rules[value.rule as usize].policy())[value.at as usize].as_str();
        let at = self.values.binary_search_by(|value| compare(of(value), text)).ok()?;
        self.values.get(at).map(|value| &value.rules)
    }
}

/// Compares a text with one that stands in pieces.
fn compare(text: &str, pieces: [&str; 3]) -> Ordering {
    let mut rest = text.as_bytes();
    for piece in pieces {
        let (head, tail) = rest.split_at(rest.len().min(piece.len()));
        match head.cmp(piece.as_bytes()) {
            Ordering::Equal => rest = tail,
            other => return other,
        }
    }
    if rest.is_empty() { Ordering::Equal } else { Ordering::Greater }
}

impl Set {
    /// The numbers are in order; `None` where there are none.
    fn new(numbers: impl Iterator<Item = u32>) -> Option<Self> {
        let mut words: Vec<Word> = Vec::new();
        for number in numbers {
            let (word, bit) = (number / u64::BITS, 1 << (number % u64::BITS));
            match words.last_mut() {
                Some(last) if last.number == word => last.bits |= bit,
                _ => words.push(Word { number: word, bits: bit }),
            }
        }
        let (first, more) = words.split_first()?;
        Some(Set { first: *first, more: more.into() })
    }

    fn words(&self) -> impl Iterator<Item = Word> {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }

    fn bits(&self, number: u32) -> u64 {
        let Some(distance) = number.checked_sub(self.first.number) else { return 0 };
        let Some(before) = distance.checked_sub(1) else { return self.first.bits };
        // Where no word is left out before it, it is in its place.
        let found = match self.more.get(before as usize) {
            Some(word) if word.number == number => Some(word),
            _ => self.more.binary_search_by_key(&number, |word| word.number).ok().map(|at| &self.more[at]),
        };
        found.map_or(0, |word| word.bits)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{
        authorizer::{Attributes, Target},
        rbac::rule::Question,
        user::UserInfo,
    };

    const VERBS: &[&str] = &["get", "list", "use", "*"];
    const GROUPS: &[&str] = &["", "apps", "batch", "*"];
    const RESOURCES: &[&str] =
        &["pods", "pods/log", "jobs", "jobs/scale", "nodes", "pod", "pods/lo", "*/log", "*/scale", "*"];
    const NAMES: &[&str] = &["a", "b", "c", "d", ""];

    fn some(random: &mut StdRng, from: &[&str], least: usize) -> Vec<String> {
        let count = random.random_range(least..3);
        // What stands at the end is rare.
        let one =
            |random: &mut StdRng| from[(0..3).map(|_| random.random_range(0..from.len())).min().unwrap()];
        (0..count).map(|_| one(random).to_owned()).collect()
    }

    /// Whatever the rules are, it says what they say one by one.
    #[test]
    fn it_finds_what_the_rules_allow_one_by_one() {
        let seed =
            std::env::var("ORCH_TEST_SEED").map_or_else(|_| rand::random(), |text| text.parse().unwrap());
        println!("ORCH_TEST_SEED={seed}");
        let (mut random, user) = (StdRng::seed_from_u64(seed), UserInfo::default());
        let mut answers = [0, 0];
        for _ in 0..300 {
            let count = [1, 3, 10, 200][random.random_range(0..4)];
            let rule = |random: &mut StdRng| {
                // Many rules must not allow everything, so each of a long list is about one name.
                let names = if count > 3 {
                    vec![format!("n{}", random.random_range(0..30))]
                } else {
                    some(random, NAMES, 0)
                };
                let [verbs, groups] = [VERBS, GROUPS].map(|from| some(random, from, 1));
                let resources = some(random, RESOURCES, 1);
                Rule::new(PolicyRule { verbs, groups, resources, names, paths: Vec::new() })
            };
            let rules: Vec<Rule> = (0..count).map(|_| rule(&mut random)).collect();
            let lookup = Lookup::new(&rules);
            for _ in 0..200 {
                let mut pick = |from: &[&'static str]| from[random.random_range(0..from.len())];
                let (verb, group, full) = (pick(VERBS), pick(GROUPS), pick(RESOURCES));
                let (resource, subresource) = full.split_once('/').unwrap_or((full, ""));
                let named = format!("n{}", random.random_range(0..30));
                let name: &str = if count > 3 { &named } else { NAMES[random.random_range(0..NAMES.len())] };
                let target =
                    ResourceTarget { group, resource, subresource, name, ..ResourceTarget::default() };
                let attributes = Attributes { user: &user, verb, target: Target::Resource(target) };
                let question = Question::new(&attributes);
                let expected = rules.iter().any(|rule| rule.allows(&question));
                answers[usize::from(expected)] += 1;
                let shown: Vec<_> = rules.iter().map(Rule::policy).take(10).collect();
                assert_eq!(lookup.allows(&rules, verb, &target), expected, "{verb} {target:?} {shown:?}");
                let name = random.random_bool(0.8).then_some(name);
                let permission = Permission::Resource { verb, group, resource: full, name };
                let expected = rules.iter().any(|rule| rule.includes(&permission));
                assert_eq!(lookup.includes(&rules, &permission), expected, "{permission:?} {shown:?}");
            }
        }
        assert!(answers.iter().all(|count| *count > 500), "{answers:?}");
    }

    #[test]
    fn a_text_in_pieces_compares_as_a_whole() {
        let pieces =
            [["pods", "", ""], ["pods", "/", "log"], ["*", "/", "log"], ["", "", ""], ["po", "d", "s/"]];
        for text in ["", "*", "pods", "pods/", "pods/log", "pods/logs", "pods/m", "pod", "q", "*/log"] {
            for piece in pieces {
                assert_eq!(compare(text, piece), text.cmp(piece.concat().as_str()), "{text:?} {piece:?}");
            }
        }
    }
}
