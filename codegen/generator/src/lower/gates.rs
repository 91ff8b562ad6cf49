//! Feature gates: one field describes a gate, others name it.

use std::collections::BTreeMap;

use crate::{
    diagnostic::Span,
    idl::{self, DescribedGate, Schema},
    model::{FeatureGate, GateStage, Model, TypeKind},
};

/// Settles the gates of all fields. A gate without a description is of a beta feature, and on.
pub(super) fn settle(model: &mut Model, written: &[&Schema]) {
    let described: BTreeMap<&str, &DescribedGate> = written
        .iter()
        .flat_map(|schema| gates(schema))
        .filter_map(|(_, gate)| match gate {
            idl::FeatureGate::Described(gate) => Some((gate.name.value.as_str(), gate)),
            idl::FeatureGate::Name(_) => None,
        })
        .collect();
    for (ty, schema) in model.types.iter_mut().zip(written) {
        let TypeKind::Object(object) = &mut ty.kind else { continue };
        for field in &mut object.fields {
            let gate = gates(schema).find(|(span, _)| **span == field.span).map(|(_, gate)| gate);
            field.feature_gate = gate.map(|gate| {
                let name = gate.name().value.clone();
                let described = described.get(name.as_str());
                let stage = described.and_then(|gate| gate.stage.as_ref());
                let stage = stage.map_or(GateStage::Beta, |stage| stage.value);
                let default = described.and_then(|gate| gate.default.as_ref());
                let default = default.map_or(stage == GateStage::Beta, |default| default.value);
                FeatureGate { name, stage, default }
            });
        }
    }
}

/// The gates that are mentioned in an object, with the place of the field.
fn gates(schema: &Schema) -> impl Iterator<Item = (&Span, &idl::FeatureGate)> {
    let properties = schema.properties.iter().flat_map(|properties| &properties.0);
    properties.filter_map(|(name, schema)| Some((&name.span, schema.feature_gate.as_ref()?)))
}
