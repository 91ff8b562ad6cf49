//! Label and field selectors: the canonical form means the same.

use orch_machinery::selector::{field::FieldSelector, label::LabelSelector};

pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    if let Ok(selector) = LabelSelector::parse(text) {
        let again = LabelSelector::parse(&selector.to_string());
        assert!(again.is_ok_and(|again| again.to_string() == selector.to_string()), "{text}");
        let _ = selector.matches(|key| (key == "a").then_some("b"));
    }
    if let Ok(selector) = FieldSelector::parse(text) {
        let _ = selector.terms().iter().all(|term| term.holds("a"));
        let _ = selector.check(&["spec.nodeName"], true);
    }
}
