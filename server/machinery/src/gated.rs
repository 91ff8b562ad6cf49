//! Fields behind feature gates: while its gate is off, a field is dropped from what clients send, unless the
//! stored object uses it.
//!
//! An object uses a field if it has a value at the path of the field. If any item of a list has the field,
//! all items that are written keep it.

use orch_runtime::{
    Tree,
    type_def::{FeatureGate, Shape, TypeDef},
};

/// The fields of a type, and of all types below it, whose gates are off.
#[derive(Debug, Default)]
pub struct GatedFields {
    /// Names of the gates that are off.
    off: Vec<&'static str>,
    /// The types that have such a field, directly or further down.
    types: Vec<&'static TypeDef>,
}

impl GatedFields {
    /// Finds the fields of a type.
    pub fn of(def: &'static TypeDef, is_on: impl Fn(&FeatureGate) -> bool) -> Self {
        let mut reachable = Vec::new();
        reach(def, &mut reachable);
        let mut off: Vec<&'static str> = reachable
            .iter()
            .flat_map(|def| def.fields)
            .filter_map(|field| field.feature_gate)
            .filter(|gate| !is_on(gate))
            .map(|gate| gate.name)
            .collect();
        off.sort_unstable();
        off.dedup();
        let mut gated = GatedFields { off, types: Vec::new() };
        if gated.off.is_empty() {
            return gated;
        }
        // Each round finds the types one level further up.
        loop {
            let more: Vec<_> = reachable
                .iter()
                .copied()
                .filter(|def| !gated.is_concerned(def))
                .filter(|def| {
                    def.fields.iter().any(|field| {
                        field.feature_gate.is_some_and(|gate| gated.is_off(gate))
                            || object_in(&field.shape).is_some_and(|below| gated.is_concerned(below))
                    })
                })
                .collect();
            if more.is_empty() {
                return gated;
            }
            gated.types.extend(more);
        }
    }

    /// Drops the fields whose gates are off from an object of the type, unless the stored object uses them.
    pub fn drop_from(&self, tree: &mut Tree, old: Option<&Tree>, def: &'static TypeDef) {
        if !self.off.is_empty() {
            self.object(tree, &old.into_iter().collect::<Vec<_>>(), def);
        }
    }

    /// Whether there is a field whose gate has this name and is off.
    pub fn has_off(&self, gate: &str) -> bool {
        self.off.contains(&gate)
    }

    fn object(&self, tree: &mut Tree, old: &[&Tree], def: &TypeDef) {
        let (true, Some(fields)) = (self.is_concerned(def), tree.as_object_mut()) else { return };
        for field in def.fields {
            let Some(value) = fields.get_mut(field.name) else { continue };
            let old: Vec<&Tree> =
                old.iter().filter_map(|old| old.get(field.name)).filter(|old| !old.is_null()).collect();
            if !field.feature_gate.is_some_and(|gate| self.is_off(gate)) {
                self.value(value, &old, &field.shape);
            } else if old.is_empty() {
                fields.remove(field.name);
            }
        }
    }

    fn value(&self, tree: &mut Tree, old: &[&Tree], shape: &Shape) {
        match shape {
            Shape::Object(def) => self.object(tree, old, def),
            Shape::List { item, .. } if self.concerns(item) => {
                let old: Vec<&Tree> = old.iter().filter_map(|old| old.as_array()).flatten().collect();
                for value in tree.as_array_mut().into_iter().flatten() {
                    self.value(value, &old, item);
                }
            }
            Shape::Map { value: item, .. } if self.concerns(item) => {
                let old: Vec<&Tree> =
                    old.iter().filter_map(|old| old.as_object()).flat_map(|old| old.values()).collect();
                for (_, value) in tree.as_object_mut().into_iter().flatten() {
                    self.value(value, &old, item);
                }
            }
            Shape::Scalar(_) | Shape::Any | Shape::List { .. } | Shape::Map { .. } => {}
        }
    }

    fn concerns(&self, shape: &Shape) -> bool {
        object_in(shape).is_some_and(|def| self.is_concerned(def))
    }

    fn is_concerned(&self, def: &TypeDef) -> bool {
        self.types.iter().any(|known| std::ptr::eq(*known, def))
    }

    fn is_off(&self, gate: &FeatureGate) -> bool {
        self.off.contains(&gate.name)
    }
}

/// Adds the type itself and all types below it, each once.
fn reach(def: &'static TypeDef, reached: &mut Vec<&'static TypeDef>) {
    if reached.iter().any(|known| std::ptr::eq(*known, def)) {
        return;
    }
    reached.push(def);
    for below in def.fields.iter().filter_map(|field| object_in(&field.shape)) {
        reach(below, reached);
    }
}

/// The type of an object, or of the objects in a list or map.
fn object_in(shape: &Shape) -> Option<&'static TypeDef> {
    match shape {
        Shape::Object(def) => Some(def),
        Shape::List { item, .. } => object_in(item),
        Shape::Map { value, .. } => object_in(value),
        Shape::Scalar(_) | Shape::Any => None,
    }
}

#[cfg(test)]
mod tests {
    use orch_runtime::type_def::{FieldDef, GateStage, ListSemantics, Scalar};
    use serde_json::json;

    use super::*;

    const COLOURS: FeatureGate = FeatureGate { name: "Colours", stage: GateStage::Beta, default: true };
    const STRING: Shape = Shape::Scalar(Scalar::String);

    static ROOT: TypeDef = TypeDef {
        name: "test.v1.Root",
        short_name: "Root",
        fields: &[
            FieldDef { name: "part", shape: Shape::Object(&PART), ..FieldDef::PLAIN },
            FieldDef { name: "other", shape: Shape::Object(&PLAIN), ..FieldDef::PLAIN },
            FieldDef {
                name: "byName",
                shape: Shape::Map { value: &Shape::Object(&PART), atomic: false },
                ..FieldDef::PLAIN
            },
        ],
        by_name: &[],
        atomic: false,
        size: 0,
    };
    static PART: TypeDef = TypeDef {
        name: "test.v1.Part",
        short_name: "Part",
        fields: &[
            FieldDef { name: "colour", shape: STRING, feature_gate: Some(&COLOURS), ..FieldDef::PLAIN },
            FieldDef { name: "name", shape: STRING, ..FieldDef::PLAIN },
            FieldDef {
                name: "parts",
                shape: Shape::List { item: &Shape::Object(&PART), semantics: ListSemantics::Atomic },
                ..FieldDef::PLAIN
            },
        ],
        by_name: &[],
        atomic: false,
        size: 0,
    };
    static PLAIN: TypeDef = TypeDef {
        name: "test.v1.Plain",
        short_name: "Plain",
        fields: &[FieldDef { name: "colour", shape: STRING, ..FieldDef::PLAIN }],
        by_name: &[],
        atomic: false,
        size: 0,
    };

    #[test]
    fn fields_behind_closed_gates_are_dropped_everywhere() {
        let given = json!({
            "part": {"colour": "red", "name": "a",
                "parts": [{"colour": "red", "parts": [{"colour": "red", "name": "b"}]}]},
            "other": {"colour": "red"},
            "byName": {"x": {"colour": "red"}},
            "unknown": {"colour": "red"},
        });
        for (is_on, expected) in [
            (true, given.clone()),
            (
                false,
                json!({
                    "part": {"name": "a", "parts": [{"parts": [{"name": "b"}]}]},
                    "other": {"colour": "red"},
                    "byName": {"x": {}},
                    "unknown": {"colour": "red"},
                }),
            ),
        ] {
            let mut tree = given.clone();
            GatedFields::of(&ROOT, |_| is_on).drop_from(&mut tree, None, &ROOT);
            assert_eq!(tree, expected, "on: {is_on}");
        }
    }

    #[test]
    fn fields_in_use_stay() {
        let given = json!({"part": {"colour": "red", "parts": [{"colour": "red"}, {"colour": "green"}]}});
        for (old, expected) in [
            (json!({}), json!({"part": {"parts": [{}, {}]}})),
            (json!({"part": {"colour": null}}), json!({"part": {"parts": [{}, {}]}})),
            (json!({"part": {"colour": "blue"}}), json!({"part": {"colour": "red", "parts": [{}, {}]}})),
            (
                json!({"part": {"parts": [{}, {"colour": "blue"}]}}),
                json!({"part": {"parts": [{"colour": "red"}, {"colour": "green"}]}}),
            ),
        ] {
            let mut tree = given.clone();
            GatedFields::of(&ROOT, |_| false).drop_from(&mut tree, Some(&old), &ROOT);
            assert_eq!(tree, expected, "{old}");
        }
    }
}
