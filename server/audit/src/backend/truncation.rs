//! Events that are too large are recorded without their objects.

use std::sync::Arc;

use crate::{
    counters::{Counters, Plugin},
    event::{Annotation, Event},
};

/// How large an event may be. Sizes are those of the JSON text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// An event that is larger loses its objects. One that is still larger is lost.
    pub max_event: usize,
    /// What the groups of the vocabulary end with, and the key of the annotation that such an event gets.
    pub suffix: &'static str,
}

impl Truncation {
    /// The text of an event that is not too large; `text` makes it.
    pub(super) fn fit(
        truncation: Option<&Truncation>,
        event: &Event,
        text: impl Fn(&Event) -> Vec<u8>,
        counters: &Arc<Counters>,
    ) -> Option<Vec<u8>> {
        let whole = text(event);
        let Some(Truncation { max_event, suffix }) = truncation else { return Some(whole) };
        if whole.len() <= *max_event {
            return Some(whole);
        }
        let mut event = Event { request_object: None, response_object: None, ..event.clone() };
        let truncated = Annotation { area: "audit", suffix, name: "truncated", value: "true".into() };
        event.annotations.push(truncated);
        let rest = text(&event);
        if rest.len() <= *max_event {
            return Some(rest);
        }
        counters.lost(Plugin::Truncate, 1);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::tests::full;

    #[test]
    fn large_events_lose_their_objects_and_then_themselves() {
        let counters = Arc::new(Counters::default());
        let large = Event { response_object: Some(format!("\"{}\"", "x".repeat(5000)).into()), ..full() };
        let fit = |max_event, event: &Event| {
            let truncation = Truncation { max_event, suffix: "example.io" };
            Truncation::fit(Some(&truncation), event, Event::text, &counters)
                .map(|text| String::from_utf8(text).unwrap())
        };
        assert!(fit(6000, &large).unwrap().contains("xxx"));
        let cut = fit(2000, &large).unwrap();
        assert!(!cut.contains("Object\":"), "{cut}");
        assert!(cut.contains(r#""audit.example.io/truncated":"true""#), "{cut}");
        assert_eq!(counters.errors(Plugin::Truncate), 0);
        assert_eq!(fit(100, &large), None);
        assert_eq!(counters.errors(Plugin::Truncate), 1);
        assert!(Truncation::fit(None, &large, Event::text, &counters).unwrap().len() > 5000);
    }
}
