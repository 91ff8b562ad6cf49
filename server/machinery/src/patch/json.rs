//! JSON patch, RFC 6902: a list of operations that are applied in order, all or none.
//!
//! Like the reference server it accepts more than the RFC: `replace` of a missing map entry adds it, `copy`
//! of one copies null, a `test` for `null` succeeds for a missing entry, and negative indexes count from the
//! end. The work, the copies and the depth of a patch are limited.

mod pointer;

use std::borrow::Cow;

use orch_runtime::{Tree, TreeMap, field_error::Shown as _};

use self::pointer::Pointer;
use super::{
    PatchError,
    shown::{cannot_unmarshal, json_type},
};
use crate::{
    json::{
        Limits, MAX_DEPTH,
        budget::Budget,
        decode::{DecodeError, StrictError, decode_any_strict},
    },
    tree::{depth, weight},
};

/// Limits of one patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonPatchLimits {
    /// The number of operations.
    pub max_operations: usize,
    /// The number of bytes that `copy` may add in all.
    pub max_copied_bytes: usize,
    /// The number of list items that may be shifted, plus the number of bytes that may be moved to deeper
    /// levels, in all.
    pub max_moved: usize,
}

impl Default for JsonPatchLimits {
    fn default() -> Self {
        JsonPatchLimits { max_operations: 10_000, max_copied_bytes: 3 * 1024 * 1024, max_moved: 50_000_000 }
    }
}

/// A patch that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPatch {
    operations: Vec<Operation>,
    strict: Vec<StrictError>,
}

#[derive(Clone, Debug, PartialEq)]
enum Operation {
    Add {
        path: Pointer,
        value: Tree,
    },
    Remove {
        path: Pointer,
    },
    Replace {
        path: Pointer,
        value: Tree,
    },
    Move {
        from: Pointer,
        path: Pointer,
    },
    Copy {
        from: Pointer,
        path: Pointer,
    },
    Test {
        path: Pointer,
        value: Tree,
    },
    /// A malformed operation. It fails when its turn comes.
    Wrong(String),
}

impl Operation {
    fn paths(&self) -> impl Iterator<Item = &Pointer> {
        let (one, other) = match self {
            Operation::Add { path, .. }
            | Operation::Remove { path }
            | Operation::Replace { path, .. }
            | Operation::Test { path, .. } => (Some(path), None),
            Operation::Move { from, path } | Operation::Copy { from, path } => (Some(from), Some(path)),
            Operation::Wrong(_) => (None, None),
        };
        one.into_iter().chain(other)
    }
}

impl JsonPatch {
    /// Reads a patch. Errors in single operations are reported only when they are applied.
    pub fn parse(bytes: &[u8], limits: &Limits, patch_limits: &JsonPatchLimits) -> Result<Self, PatchError> {
        Self::read(bytes, limits, patch_limits, CHECKED)
    }

    /// Reads a patch where nobody wants to know of fields that it should not have: names and paths that are
    /// no texts are errors of single operations too.
    pub fn parse_unchecked(
        bytes: &[u8],
        limits: &Limits,
        patch_limits: &JsonPatchLimits,
    ) -> Result<Self, PatchError> {
        Self::read(bytes, limits, patch_limits, UNCHECKED)
    }

    fn read(
        bytes: &[u8],
        limits: &Limits,
        patch_limits: &JsonPatchLimits,
        reader: Reader,
    ) -> Result<Self, PatchError> {
        let decoded = decode_any_strict(bytes, limits).map_err(|error| match error {
            DecodeError::TooLarge(exceeded) => PatchError::TooLarge(exceeded.to_string()),
            error => PatchError::Malformed(format!("{}{error}", reader.prefix)),
        })?;
        let items = match decoded.tree {
            Tree::Array(items) => items,
            Tree::Null => Vec::new(),
            other => return Err(reader.wrong_type(&other, reader.patch)),
        };
        if items.len() > patch_limits.max_operations {
            return Err(PatchError::TooManyOperations { max: patch_limits.max_operations, got: items.len() });
        }
        let duplicates = decoded.strict.into_iter().filter_map(|error| match error {
            // Duplicate names inside a value do not concern the patch.
            StrictError::Duplicate(path) if path.matches('.').count() == 1 => Some(path),
            _ => None,
        });
        let (mut duplicates, mut strict) = (duplicates.peekable(), Vec::new());
        let mut operations = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let fields = match item {
                Tree::Object(fields) => fields,
                Tree::Null => TreeMap::new(),
                other => return Err(reader.wrong_type(&other, reader.operation)),
            };
            if reader.checks_texts {
                check_texts(&fields)?;
            }
            for name in
                fields.keys().filter(|name| !matches!(name.as_str(), "op" | "path" | "from" | "value"))
            {
                strict.push(StrictError::Unknown(format!("[{index}].{name}")));
            }
            let place = format!("[{index}].");
            while let Some(path) = duplicates.next_if(|path| path.starts_with(&place)) {
                strict.push(StrictError::Duplicate(path));
            }
            operations.push(operation(fields));
        }
        Ok(JsonPatch { operations, strict })
    }

    /// What strict field validation refuses: `json patch unknown field "[0].foo"`.
    pub fn strict(&self) -> impl Iterator<Item = String> {
        self.strict.iter().map(|error| format!("json patch {error}"))
    }

    /// The values that it brings, each with the names and indexes of its place.
    pub fn values_mut(&mut self) -> impl Iterator<Item = (impl Iterator<Item = Cow<'_, str>>, &mut Tree)> {
        self.operations.iter_mut().filter_map(|operation| match operation {
            Operation::Add { path, value }
            | Operation::Replace { path, value }
            | Operation::Test { path, value } => Some((path.tokens(), value)),
            Operation::Remove { .. }
            | Operation::Move { .. }
            | Operation::Copy { .. }
            | Operation::Wrong(_) => None,
        })
    }

    /// The names and indexes of a result that the operations have passed, as an object in objects; null where
    /// they have ended.
    pub fn passed(&self, result: &Tree) -> Tree {
        let mut passed = Tree::Object(TreeMap::new());
        for path in self.operations.iter().flat_map(Operation::paths) {
            let (mut at, mut there) = (&mut passed, result);
            for token in path.tokens() {
                let below = match there {
                    Tree::Object(map) => map.get(&*token),
                    Tree::Array(items) => token.parse().ok().and_then(|index: usize| items.get(index)),
                    _ => None,
                };
                if at.is_null() {
                    *at = Tree::Object(TreeMap::new());
                }
                // No more is passed than there is.
                let (Some(below), Tree::Object(names)) = (below, at) else { break };
                there = below;
                at = names.entry(token.into_owned()).or_insert(Tree::Null);
            }
        }
        passed
    }

    /// The object after all operations.
    pub fn apply(&self, current: &Tree, limits: &JsonPatchLimits) -> Result<Tree, PatchError> {
        let budget = Budget::of(Limits::default());
        let mut document = Document { root: current.clone(), copied: 0, budget, moved: 0, limits };
        for operation in &self.operations {
            document.apply(operation)?;
        }
        Ok(document.root)
    }
}

/// How the reference reads a patch, and what it says of one that it cannot read.
#[derive(Clone, Copy)]
struct Reader {
    prefix: &'static str,
    /// The type of a patch.
    patch: &'static str,
    /// The type of one operation.
    operation: &'static str,
    checks_texts: bool,
}

const CHECKED: Reader = Reader {
    prefix: "error decoding patch: ",
    patch: "[]handlers.jsonPatchOp",
    operation: "handlers.jsonPatchOp",
    checks_texts: true,
};

const UNCHECKED: Reader =
    Reader { prefix: "", patch: "jsonpatch.Patch", operation: "jsonpatch.Operation", checks_texts: false };

impl Reader {
    fn wrong_type(self, tree: &Tree, wanted: &str) -> PatchError {
        PatchError::Malformed(format!("{}{}", self.prefix, cannot_unmarshal(tree, wanted)))
    }
}

/// Checks that the fields of an operation that hold texts are texts or absent.
fn check_texts(fields: &TreeMap) -> Result<(), PatchError> {
    let texts = ["op", "path", "from"].map(|name| (name, fields.get(name)));
    let is_wrong = |value: &Tree| !value.is_string() && !value.is_null();
    match texts.into_iter().find(|(_, value)| value.is_some_and(is_wrong)) {
        Some((name, Some(other))) => Err(PatchError::Malformed(format!(
            "error decoding patch: json: cannot unmarshal {} into Go struct field jsonPatchOp.{name} \
             of type string",
            json_type(other)
        ))),
        _ => Ok(()),
    }
}

fn operation(mut fields: TreeMap) -> Operation {
    read_operation(&mut fields).unwrap_or_else(Operation::Wrong)
}

fn read_operation(fields: &mut TreeMap) -> Result<Operation, String> {
    let op = text(fields, "op")?;
    let path = Pointer::parse(&text(fields, "path")?)?;
    let from = |fields| Pointer::parse(&text(fields, "from")?);
    // The reference server reads a missing value as null.
    let value = fields.get_mut("value").map(Tree::take).unwrap_or_default();
    Ok(match op.as_str() {
        "add" => Operation::Add { path, value },
        "remove" => Operation::Remove { path },
        "replace" => Operation::Replace { path, value },
        "move" => Operation::Move { from: from(fields)?, path },
        "copy" => Operation::Copy { from: from(fields)?, path },
        "test" => Operation::Test { path, value },
        _ => return Err(format!("Unexpected kind: {op}")),
    })
}

fn text(fields: &TreeMap, name: &str) -> Result<String, String> {
    match fields.get(name) {
        Some(Tree::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("operation has a {name} field that is not a string")),
        None => Err(format!("operation missing {name} field")),
    }
}

/// The patched object so far, and the cost of making it.
struct Document<'l> {
    root: Tree,
    copied: usize,
    /// What is left for all copies together: small values take many times their bytes.
    budget: Budget,
    moved: usize,
    limits: &'l JsonPatchLimits,
}

impl Document<'_> {
    fn apply(&mut self, operation: &Operation) -> Result<(), PatchError> {
        match operation {
            Operation::Add { path, value } => {
                check_depth(path, value)?;
                self.add(path, value.clone(), "add")
            }
            Operation::Remove { path } => self.remove(path, "remove").map(drop),
            Operation::Replace { path, value } => {
                check_depth(path, value)?;
                self.replace(path, value.clone())
            }
            Operation::Move { from, path } => {
                let value = self.remove(from, "move")?;
                if path.len() > from.len() {
                    self.charge_moved(weight(&value))?;
                    check_depth(path, &value)?;
                }
                self.add(path, value, "move")
            }
            Operation::Copy { from, path } => {
                // The reference server copies null where an object lacks the field.
                let is_there = from.find(&self.root).is_some()
                    || from.parent(&mut self.root).is_some_and(|(parent, _)| parent.is_object());
                if !is_there {
                    return Err(missing("copy", from));
                }
                let value = from.find(&self.root).unwrap_or(&Tree::Null);
                self.copied = self.copied.saturating_add(weight(value));
                if self.copied > self.limits.max_copied_bytes {
                    return Err(PatchError::TooLarge(format!(
                        "copy operations may add at most {} bytes",
                        self.limits.max_copied_bytes
                    )));
                }
                self.budget.tree(value).map_err(|exceeded| PatchError::TooLarge(exceeded.to_string()))?;
                check_depth(path, value)?;
                let value = value.clone();
                self.add(path, value, "copy")
            }
            Operation::Test { path, value } => self.test(path, value),
            Operation::Wrong(reason) => Err(PatchError::NotApplicable(reason.clone())),
        }
    }

    fn add(&mut self, path: &Pointer, value: Tree, op: &str) -> Result<(), PatchError> {
        // The reference server lets `replace` change the whole document, but not `add`.
        let (parent, last) = path.parent(&mut self.root).ok_or_else(|| missing(op, path))?;
        match parent {
            Tree::Object(map) => {
                map.insert(last.into_owned(), value);
                Ok(())
            }
            Tree::Array(items) => {
                let at = if last == "-" { Some(items.len()) } else { pointer::index(&last, items.len() + 1) };
                let at = at.ok_or_else(|| bad_index(op, path, &last))?;
                let shifted = items.len() - at;
                items.insert(at, value);
                self.charge_moved(shifted)
            }
            _ => Err(missing(op, path)),
        }
    }

    fn remove(&mut self, path: &Pointer, op: &str) -> Result<Tree, PatchError> {
        let (parent, last) = path.parent(&mut self.root).ok_or_else(|| missing(op, path))?;
        match parent {
            Tree::Object(map) => map.remove(&*last).ok_or_else(|| missing(op, path)),
            Tree::Array(items) => {
                let at = pointer::index(&last, items.len()).ok_or_else(|| bad_index(op, path, &last))?;
                let shifted = items.len() - at;
                let removed = items.remove(at);
                self.charge_moved(shifted)?;
                Ok(removed)
            }
            _ => Err(missing(op, path)),
        }
    }

    fn replace(&mut self, path: &Pointer, value: Tree) -> Result<(), PatchError> {
        let Some((parent, last)) = path.parent(&mut self.root) else {
            if path.is_root() {
                // The reference server takes no notice of a value that can be no document.
                if value.is_object() || value.is_array() {
                    self.root = value;
                }
                return Ok(());
            }
            return Err(missing("replace", path));
        };
        match parent {
            Tree::Object(map) => {
                map.insert(last.into_owned(), value);
            }
            Tree::Array(items) => {
                let at =
                    pointer::index(&last, items.len()).ok_or_else(|| bad_index("replace", path, &last))?;
                items[at] = value;
            }
            _ => return Err(missing("replace", path)),
        }
        Ok(())
    }

    fn test(&self, path: &Pointer, expected: &Tree) -> Result<(), PatchError> {
        let found = match path.find(&self.root) {
            Some(found) => found,
            // A missing entry of an object equals null.
            None if path.find_parent(&self.root).is_some_and(Tree::is_object) => &Tree::Null,
            None => return Err(missing("test", path)),
        };
        if is_same(found, expected) {
            Ok(())
        } else {
            Err(PatchError::NotApplicable(format!("testing value {path} failed: test failed")))
        }
    }

    fn charge_moved(&mut self, amount: usize) -> Result<(), PatchError> {
        self.moved = self.moved.saturating_add(amount);
        if self.moved > self.limits.max_moved {
            return Err(PatchError::TooLarge("the operations move too many values".to_owned()));
        }
        Ok(())
    }
}

/// Whether a value of the object is the expected one. A number with a fraction is written without one where
/// it is whole, so whoever has read `300` expects that.
fn is_same(found: &Tree, expected: &Tree) -> bool {
    match (found, expected) {
        (Tree::Number(found), Tree::Number(expected)) if found.is_f64() => {
            found.as_f64() == expected.as_f64()
        }
        (Tree::Array(found), Tree::Array(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(one, other)| is_same(one, other))
        }
        (Tree::Object(found), Tree::Object(expected)) => {
            let has_same = |(name, value)| expected.get(name).is_some_and(|other| is_same(value, other));
            found.len() == expected.len() && found.iter().all(has_same)
        }
        _ => found == expected,
    }
}

/// Refuses a value that would reach below [`MAX_DEPTH`](crate::json::MAX_DEPTH).
fn check_depth(path: &Pointer, value: &Tree) -> Result<(), PatchError> {
    if path.len() + depth(value) < MAX_DEPTH {
        return Ok(());
    }
    Err(PatchError::NotApplicable(DecodeError::TooDeep(MAX_DEPTH).to_string()))
}

fn missing(op: &str, path: &Pointer) -> PatchError {
    let path = path.to_string();
    PatchError::NotApplicable(format!(
        "{op} operation does not apply: doc is missing path: {}: missing value",
        path.shown()
    ))
}

fn bad_index(op: &str, path: &Pointer, index: &str) -> PatchError {
    let path = path.to_string();
    PatchError::NotApplicable(format!(
        "{op} operation does not apply: {}: Unable to access invalid index: {index}: \
         invalid index referenced",
        path.shown()
    ))
}

#[cfg(test)]
mod tests;
