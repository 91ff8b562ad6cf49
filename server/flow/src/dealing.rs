//! Shuffle sharding: each flow gets a few of the queues, its hand, by its hash. Two flows share some of their
//! queues often and all of them hardly ever, so a flow that fills its hand leaves others a way.

use aws_lc_rs::digest::{SHA256, digest};

use crate::config::{LevelKind, Queuing};

/// The largest hand that the rules of priority levels allow: that of 16 queues, whose hands need
/// log2(queues) * size <= 60 bits.
pub const MAX_HAND: usize = 15;

/// Queues by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hand {
    cards: [u32; MAX_HAND],
    size: usize,
}

impl Hand {
    /// The hand of a flow at a level, by the flow's hash: no cards where the level has no queues.
    pub fn at(kind: LevelKind, hash: u64) -> Self {
        match kind {
            LevelKind::Limited { queuing: Some(Queuing { queues, hand_size, .. }), .. } => {
                let queues = queues.max(1);
                deal(hash, queues, hand_size.clamp(1, queues) as usize)
            }
            LevelKind::Exempt | LevelKind::Limited { queuing: None, .. } => deal(hash, 0, 0),
        }
    }

    /// The numbers, each different.
    pub fn cards(&self) -> &[u32] {
        &self.cards[..self.size]
    }
}

/// The hash of a flow: of all requests that a flow schema matches and that have this distinguisher (a user, a
/// namespace, or nothing).
pub fn flow_hash(schema: &str, distinguisher: &str) -> u64 {
    let mut text = Vec::with_capacity(schema.len() + 1 + distinguisher.len());
    text.extend_from_slice(schema.as_bytes());
    text.push(0);
    text.extend_from_slice(distinguisher.as_bytes());
    let digest = digest(&SHA256, &text);
    let first = digest.as_ref().first_chunk().expect("a SHA-256 digest has 32 bytes");
    u64::from_le_bytes(*first)
}

/// Deals `size` of `queues` cards by a hash. A larger hand than [`MAX_HAND`], or than there are queues, is
/// cut.
pub fn deal(hash: u64, queues: u32, size: usize) -> Hand {
    let size = size.min(MAX_HAND).min(queues as usize);
    let (mut cards, mut remainders, mut rest) = ([0; MAX_HAND], [0; MAX_HAND], hash);
    for index in 0..size {
        let left = u64::from(queues) - index as u64;
        remainders[index] = (rest % left) as u32;
        rest /= left;
        // A remainder counts the cards that are left; the card itself is further on for each that was dealt
        // from before it.
        let mut card = remainders[index];
        for dealt in remainders[..index].iter().rev() {
            card += u32::from(card >= *dealt);
        }
        cards[index] = card;
    }
    Hand { cards, size }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;

    #[test]
    fn hands_are_those_of_the_reference() {
        for (hash, queues, size, expected) in [
            // All remainders are 0: each card is raised past those that were dealt before it.
            (0, 16, 4, vec![0, 1, 2, 3]),
            (15, 16, 4, vec![15, 0, 1, 2]),
            // Remainders 1, 1, 1.
            (257, 16, 3, vec![1, 2, 3]),
            // Remainders 5, 5, 4: the third stays, because it is smaller than both.
            (269, 8, 3, vec![5, 6, 4]),
            // Remainders 2, 6, 5: the third does not reach 6, and reaches 2.
            (330, 8, 3, vec![2, 7, 6]),
            (7, 1, 1, vec![0]),
            (u64::MAX, 4, 4, vec![3, 0, 2, 1]),
            (0x1234_5678_9abc_def0, 64, 6, vec![48, 49, 13, 57, 23, 33]),
            (0xfedc_ba98_7654_3210, 128, 6, vec![16, 96, 60, 118, 5, 4]),
            (1_234_567_890_123_456_789, 64, 8, vec![21, 34, 9, 32, 36, 28, 35, 51]),
        ] {
            assert_eq!(deal(hash, queues, size).cards(), expected, "{hash} {queues} {size}");
        }
    }

    #[test]
    fn every_ordered_hand_is_dealt_equally_often() {
        let (queues, size) = (6, 3);
        let mut dealt: HashMap<Vec<u32>, u32> = HashMap::new();
        for hash in 0..6 * 5 * 4 {
            *dealt.entry(deal(hash, queues, size).cards().to_vec()).or_default() += 1;
        }
        assert_eq!(dealt.len(), 6 * 5 * 4);
        for (hand, times) in dealt {
            assert_eq!(hand.iter().collect::<BTreeSet<_>>().len(), size, "{hand:?}");
            assert_eq!(times, 1, "{hand:?}");
        }
    }

    #[test]
    fn the_hash_of_a_flow_is_the_beginning_of_a_digest() {
        for (schema, distinguisher, expected) in [
            ("global-default", "bob", 0x6cc1_5f39_b7bd_c3b9),
            ("catch-all", "", 0x6b54_6fa4_8f81_5ead),
            ("service-accounts", "system:serviceaccount:a:b", 0x789c_2624_2727_e037),
        ] {
            assert_eq!(flow_hash(schema, distinguisher), expected, "{schema} {distinguisher}");
        }
    }

    #[test]
    fn a_hand_is_never_larger_than_it_may_be() {
        assert_eq!(deal(7, 3, 9).cards().len(), 3);
        assert_eq!(deal(7, 100, 99).cards().len(), MAX_HAND);
    }
}
