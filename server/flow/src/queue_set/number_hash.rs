//! A map from the numbers of queues. Numbers are dealt by a hash already and clients do not choose them, so
//! hashing them is one multiplication.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasherDefault, Hasher},
};

/// See the module.
#[derive(Debug)]
pub(super) struct NumberMap<T>(HashMap<u32, T, BuildHasherDefault<NumberHasher>>);

/// Spreads a number over 64 bits.
#[derive(Clone, Copy, Debug, Default)]
struct NumberHasher(u64);

/// 2^64 divided by the golden ratio, which spreads numbers that follow each other.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(FACTOR);
    }
}

impl<T> Default for NumberMap<T> {
    fn default() -> Self {
        NumberMap(HashMap::default())
    }
}

impl<T> NumberMap<T> {
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.0.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.0.get_mut(&number)
    }

    pub(super) fn entry(&mut self, number: u32) -> Entry<'_, u32, T> {
        self.0.entry(number)
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.0.remove(&number);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.0.iter().map(|(number, value)| (*number, value))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
