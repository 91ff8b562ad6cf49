//! Which keys are asked for next, so that reading all of them takes time in proportion to their number.
//!
//! etcd looks at each key of the range that it is asked for, also at those that are beyond the limit of its
//! answer. Pages of one long range would cost the square of the number of keys. So each question is about
//! the keys with one prefix, which becomes shorter while few keys have it, and long again where an answer was
//! cut.

/// Where fewer keys have a prefix than this part of a page, a shorter one is tried: names have about so many
/// different characters in one place.
const FEW: u64 = 32;

/// The keys that are not read yet.
#[derive(Debug)]
pub(crate) struct Span {
    key: Vec<u8>,
    end: Vec<u8>,
    /// How many bytes the prefix has; the first question is about all keys.
    length: usize,
}

impl Span {
    /// The keys from `key` to `end`, without the last one.
    pub(crate) fn new(key: Vec<u8>, end: Vec<u8>) -> Self {
        Span { key, end, length: 0 }
    }

    /// From where to where to ask.
    pub(crate) fn question(&self) -> (Vec<u8>, Vec<u8>) {
        let prefix = &self.key[..self.length.min(self.key.len())];
        let until = behind(prefix).filter(|until| *until < self.end);
        (self.key.clone(), until.unwrap_or_else(|| self.end.clone()))
    }

    /// Goes on behind an answer with `count` keys. `cut` is the last of them where there are more. Returns
    /// whether anything is left to ask.
    pub(crate) fn answered(&mut self, count: u64, limit: u64, cut: Option<&[u8]>) -> bool {
        if let Some(last) = cut {
            self.length = last.len().saturating_sub(1);
            self.key = [last, &[0]].concat();
            return true;
        }
        let (_, until) = self.question();
        if until == self.end {
            return false;
        }
        self.key = until;
        if count < limit / FEW {
            self.length = self.length.saturating_sub(1);
        }
        true
    }
}

/// The first key behind all that have a prefix, where there can be one.
fn behind(prefix: &[u8]) -> Option<Vec<u8>> {
    let kept = prefix.iter().rposition(|byte| *byte < u8::MAX)?;
    let mut behind = prefix[..=kept].to_vec();
    behind[kept] += 1;
    Some(behind)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const LIMIT: u64 = 100;

    /// Reads all keys. Returns how many questions that takes, and how many keys etcd looks at.
    fn read(names: &BTreeSet<Vec<u8>>) -> [u64; 2] {
        let mut span = Span::new(b"/p/".to_vec(), b"/p0".to_vec());
        let (mut seen, mut questions, mut cost) = (Vec::new(), 0, 0);
        loop {
            let (key, end) = span.question();
            let found: Vec<&Vec<u8>> = names.range(key..end).collect();
            questions += 1;
            cost += found.len() as u64;
            let page = &found[..found.len().min(LIMIT as usize)];
            seen.extend(page.iter().map(|key| (*key).clone()));
            let cut = page.last().filter(|_| page.len() < found.len()).map(|key| key.as_slice());
            if !span.answered(page.len() as u64, LIMIT, cut) {
                break;
            }
        }
        assert!(seen.iter().eq(names.iter()), "each key once, in order");
        [questions, cost]
    }

    #[test]
    fn all_keys_are_read_once_at_a_cost_in_proportion() {
        let digits = |count: u64| (0..count).map(|n| format!("/p/maps/default/item-{n:06}")).collect();
        let spread = |count: u64| {
            let name = |n: u64| format!("/p/maps/default/{:x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            (0..count).map(name).collect()
        };
        let namespaces =
            |count: u64| (0..count).map(|n| format!("/p/maps/team-{}/{}", n / 7, n % 7)).collect();
        let kinds = |count: u64| (0..count).map(|n| format!("/p/kind{}/x/{n}", n % 40)).collect();
        let shapes: [&dyn Fn(u64) -> Vec<String>; 4] = [&digits, &spread, &namespaces, &kinds];
        for (index, shape) in shapes.iter().enumerate() {
            for count in [0, 1, 5, 150, 40_000] {
                let names = shape(count).into_iter().map(String::into_bytes).collect();
                let [questions, cost] = read(&names);
                assert!(questions <= count / 2 + 60, "{index}: {questions} questions for {count} keys");
                assert!(cost <= 12 * count, "{index}: etcd looks at {cost} keys where there are {count}");
            }
        }
    }

    #[test]
    fn bytes_of_all_values_have_an_end() {
        let names: Vec<&[u8]> = vec![b"/p/\xff\xff", b"/p/\xff\xff\xff", b"/p/a", b"/p/a\x00", b"/p/a/\xff"];
        read(&names.into_iter().map(<[u8]>::to_vec).collect());
        assert_eq!(behind(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!((behind(b""), behind(b"\xff")), (None, None));
    }
}
