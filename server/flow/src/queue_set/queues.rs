//! The queues of a level that have requests, by their numbers.
//!
//! There may be millions of queues, but levels have a hundred or so. Queues of low numbers have a place each,
//! which is found without a search; the others are in a map.

use super::{number_hash::NumberMap, queue::Queue};

/// Queues of lower numbers have a place each.
const PLACES: usize = 1024;

/// See the module.
#[derive(Debug)]
pub(super) struct Queues<W> {
    /// By number, as far as there was a request.
    places: Vec<Option<Queue<W>>>,
    /// How many of them are queues.
    in_places: usize,
    others: NumberMap<Queue<W>>,
}

impl<W> Default for Queues<W> {
    fn default() -> Self {
        Queues { places: Vec::new(), in_places: 0, others: NumberMap::default() }
    }
}

impl<W> Queues<W> {
    pub(super) fn get(&self, number: u32) -> Option<&Queue<W>> {
        match self.places.get(number as usize) {
            Some(place) => place.as_ref(),
            None => self.others.get(number),
        }
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Queue<W>> {
        match self.places.get_mut(number as usize) {
            Some(place) => place.as_mut(),
            None => self.others.get_mut(number),
        }
    }

    /// The queue of a number, which begins at this virtual time where it has no requests yet.
    pub(super) fn begun(&mut self, number: u32, virtual_time: f64) -> &mut Queue<W> {
        let (place, begin) = (number as usize, || Queue::starting(virtual_time));
        if place >= PLACES {
            return self.others.entry(number).or_insert_with(begin);
        }
        if place >= self.places.len() {
            self.places.resize_with(place + 1, || None);
        }
        let queue = &mut self.places[place];
        self.in_places += usize::from(queue.is_none());
        queue.get_or_insert_with(begin)
    }

    /// Forgets a queue that has no requests.
    pub(super) fn forget_if_idle(&mut self, number: u32) {
        match self.places.get_mut(number as usize) {
            Some(place) => {
                if place.take_if(|queue| queue.is_idle()).is_some() {
                    self.in_places -= 1;
                }
            }
            None => {
                if self.others.get(number).is_some_and(Queue::is_idle) {
                    self.others.remove(number);
                }
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Queue<W>)> {
        let places = (0..).zip(&self.places);
        places.filter_map(|(number, place)| Some((number, place.as_ref()?))).chain(self.others.iter())
    }

    pub(super) fn len(&self) -> usize {
        self.in_places + self.others.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::width::Width;

    #[test]
    fn queues_are_there_while_they_have_requests() {
        let mut queues: Queues<()> = Queues::default();
        let numbers = [3, 1023, 1024, 9_999_999];
        for number in numbers {
            assert!(queues.get(number).is_none());
            queues.begun(number, 7.0).run(Width::ONE);
            // The time at which it began stays.
            assert!((queues.begun(number, 9.0).next_start - 7.0).abs() < 1e-9);
        }
        assert_eq!(queues.len(), 4);
        let mut found: Vec<u32> = queues.iter().map(|(number, _)| number).collect();
        found.sort_unstable();
        assert_eq!(found, numbers);
        for number in numbers {
            queues.forget_if_idle(number);
            assert_eq!(queues.get(number).unwrap().running, 1, "it is not idle");
            queues.get_mut(number).unwrap().running = 0;
            queues.forget_if_idle(number);
            assert!(queues.get(number).is_none());
        }
        assert!(queues.is_empty() && queues.iter().next().is_none());
    }
}
