//! Values computed once and kept with what they were computed from.

use std::any::Any;
use std::sync::OnceLock;

/// At most one value per type, set once. A chain: there are one or two types in practice.
#[derive(Default)]
pub(crate) struct Memo(OnceLock<Box<dyn Link>>);

/// One value and the rest of the chain, in one piece of memory: scans look at many objects, and each piece
/// can be a cache miss.
struct Slot<T> {
    next: Memo,
    value: T,
}

trait Link: Send + Sync {
    fn value(&self) -> &dyn Any;
    fn next(&self) -> &Memo;
}

impl<T: Send + Sync + 'static> Link for Slot<T> {
    fn value(&self) -> &dyn Any {
        &self.value
    }

    fn next(&self) -> &Memo {
        &self.next
    }
}

impl Memo {
    /// The value of type `T`, if there is one.
    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        let mut memo = self;
        while let Some(slot) = memo.0.get() {
            if let Some(value) = slot.value().downcast_ref() {
                return Some(value);
            }
            memo = slot.next();
        }
        None
    }

    /// The value of type `T`; made by `init` if there is none. Of two threads that race, both see one value.
    pub(crate) fn get_or_init<T: Send + Sync + 'static>(&self, init: impl FnOnce() -> T) -> &T {
        let mut init = Some(init);
        let mut memo = self;
        loop {
            let slot = memo.0.get_or_init(|| {
                let init = init.take().expect("init runs for one slot, and that slot then holds a T");
                Box::new(Slot { next: Self::default(), value: init() })
            });
            if let Some(value) = slot.value().downcast_ref::<T>() {
                return value;
            }
            memo = slot.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_one_value_per_type() {
        let memo = Memo::default();
        assert_eq!(memo.get::<u32>(), None);
        assert_eq!(*memo.get_or_init(|| 1_u32), 1);
        assert_eq!(*memo.get_or_init(|| String::from("a")), "a");
        assert_eq!(*memo.get_or_init::<u32>(|| unreachable!("already there")), 1);
        assert_eq!(*memo.get_or_init::<String>(|| unreachable!("already there")), "a");
        assert_eq!((memo.get::<u32>(), memo.get::<u64>()), (Some(&1), None));
    }
}
