//! `Accept` headers: what is chosen is one of the offers.

use orch_machinery::{
    media_type::MediaTypes,
    negotiate::{Form, Offer, negotiate},
};

pub fn run(input: &[u8]) {
    let Ok(accept) = str::from_utf8(input) else { return };
    let media_types = MediaTypes::new(&[&orch_api::KUBERNETES, &orch_api::ORCH], |_| true);
    let forms = [Form { kind: "Table", groups: &["meta.k8s.io"], versions: &["v1"] }];
    let offers: Vec<Offer<'_>> = media_types
        .in_vocabulary(&orch_api::KUBERNETES)
        .map(|named| Offer { media_type: named, streams: true, forms: &forms })
        .collect();
    if let Some(chosen) = negotiate(Some(accept), &offers) {
        assert!(offers.iter().any(|offer| offer.media_type.name == chosen.media_type.name), "{accept}");
    }
    let _ = media_types.reader(accept);
}
