//! Behaviour of kinds: what a schema cannot say.
//!
//! Most kinds have none. One that has implements [`Behaviour`] for its generated type and is registered with
//! [`Behaviours::register`], for exactly that group, version and kind. The product's kinds and a user's kinds
//! are registered in the same way. The stages of a write work with objects of any kind: they call
//! [`AnyBehaviour`], the same trait for them, and one adapter downcasts to the type of the kind.
//!
//! Steps that change or check an object get the typed object. Steps of a deletion get the tree: an object
//! whose stored form no longer fits its type must still be deletable.

use std::{collections::HashMap, marker::PhantomData, sync::Arc};

use orch_machinery::{gated::GatedFields, table::RowCondition, tree::at};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    object::{ApiObject, Kind},
    resource_def::{FieldPath, ResourceDef},
    scalar::Time,
    type_def::TypeDef,
    vocabulary::Vocabulary,
};

use crate::{
    claims::{Claim, Claimed, Unallocated},
    kind_name::KindName,
};

/// The write that a step is part of.
#[derive(Clone, Copy, Debug)]
pub struct WriteInfo<'a> {
    /// The product words in force.
    pub vocabulary: &'a Vocabulary,
    /// `""` for the main path.
    pub subresource: &'a str,
    /// The time of the write.
    pub now: Time,
}

/// A field, and a value for it; none where it is absent.
pub type Overruled = (FieldPath, Option<Tree>);

/// A field as the client sent it. An empty list counts as absent, as it does where it is stored.
pub fn as_sent(sent: &Tree, path: FieldPath) -> Overruled {
    let is_empty = |value: &Tree| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    (path, at(sent, path).filter(|value| !is_empty(value)).cloned())
}

/// What a kind adds to the stages of a write, with objects of the type `T`. Every step has a default that
/// does nothing.
pub trait Behaviour<T: ?Sized>: Send + Sync + 'static {
    /// Drops the fields whose gates are off from what the client sent; a kind may drop more, or less. `old`
    /// is the stored object, `def` the type of both.
    fn drop_gated(&self, object: &mut Tree, old: Option<&Tree>, gated: &GatedFields, def: &'static TypeDef) {
        gated.drop_from(object, old, def);
    }

    /// Adjusts an object before defaults are filled; `old` is absent on create.
    fn prepare(&self, _object: &mut T, _old: Option<&T>, _write: &WriteInfo<'_>) {}

    /// Fills in what follows from the rest of a new object, after plugins and before the rules. No manager
    /// owns what is filled in. Returns warnings, which the client gets even if the object is refused.
    fn complete(&self, _object: &mut T, _write: &WriteInfo<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Whether [`complete`](Behaviour::complete) may add items to lists or maps of this new object. No
    /// [`FieldPath`] names these, so what managers own is taken from a copy made before.
    fn adds_items(&self, _object: &T, _write: &WriteInfo<'_>) -> bool {
        false
    }

    /// Refuses a change before any other rule runs. The answer is 400 with this error alone.
    fn refuse_change(&self, _object: &T, _old: &T) -> Option<FieldError> {
        None
    }

    /// Reports violations that need the old object, the path or the vocabulary.
    fn validate(
        &self,
        _object: &T,
        _old: Option<&T>,
        _write: &WriteInfo<'_>,
        _violations: &mut Validation<'_>,
    ) {
    }

    /// Whether a client that changes an object is warned of what is in it, as one that creates it is.
    fn warns_of_change(&self, _object: &Tree, _old: &Tree) -> bool {
        true
    }

    /// Puts an object that is valid into the form in which it is stored. The rules have seen, and warned of,
    /// what the client sent.
    fn normalize(&self, _object: &mut T) {}

    /// How many sorts of claims objects of the kind make; see [`Claim::sort`].
    fn claim_sorts(&self) -> u16 {
        0
    }

    /// The values that only this object may have. The store checks that when a write commits.
    fn claims(&self, _object: &T) -> Vec<Claim> {
        Vec::new()
    }

    /// Whether the store keeps an index of which objects a controller has
    /// ([`controlled_by`](crate::read::controlled::controlled_by)): controllers that manage objects of the
    /// kind then need not look through all of them.
    fn is_found_by_controller(&self) -> bool {
        false
    }

    /// Fills in what only the server can choose, such as a free address, before the rules are judged: the
    /// object may be wrong in any way. Violations that are reported here are told alone. Two writes may
    /// choose the same value; the one that commits second runs again.
    ///
    /// # Errors
    /// Other refusals than 422, such as 500 where nothing is left to choose from.
    fn allocate(
        &self,
        _object: &mut T,
        _old: Option<&T>,
        _claimed: &Claimed<'_>,
        _violations: &mut Validation<'_>,
    ) -> Result<(), Unallocated> {
        Ok(())
    }

    /// Fields that the server overrules in an update, in [`prepare`](Behaviour::prepare) or later, with the
    /// values by which it is decided who owns them. In the reference that is decided first, by what the
    /// client sent. `current` is the stored object with its managed fields.
    fn overruled(&self, _sent: &Tree, _current: &Tree) -> Vec<Overruled> {
        Vec::new()
    }

    /// Fields that [`prepare`](Behaviour::prepare) sets on this path: no manager owns them afterwards.
    fn server_fields(&self, _subresource: &str) -> &'static [FieldPath] {
        &[]
    }

    /// Metadata that a write on this path leaves alone, whatever a client sends.
    fn kept_metadata(&self, _subresource: &str) -> &'static [FieldPath] {
        &[]
    }

    /// Whether a write on this path leaves the owners of fields as they are, whoever writes.
    fn keeps_owners(&self, _subresource: &str) -> bool {
        false
    }

    /// Fields that the behaviour or admission adds to a new object: a client owns them only if it sends them.
    fn added_fields(&self) -> &'static [FieldPath] {
        &[]
    }

    /// Whether a create keeps the status that the client sends.
    fn keeps_sent_status(&self) -> bool {
        false
    }

    /// Whether an object without finalizers can be removed. Asked at the first DELETE, and when an update of
    /// an object that is being deleted leaves it without finalizers.
    fn may_be_removed(&self, _object: &Tree) -> bool {
        true
    }

    /// Why no client may delete the object of this name by itself, if none may.
    fn why_undeletable(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// Whether a DELETE begins a deletion that others end, as that of a namespace with its content: while the
    /// object [may not be removed](Behaviour::may_be_removed), a further DELETE changes nothing.
    fn is_deleted_in_steps(&self) -> bool {
        false
    }

    /// The grace period of a deletion, in seconds; `asked` is what the client asks for. `None` for a kind
    /// without graceful deletion.
    fn grace_period(&self, _object: &Tree, _asked: Option<i64>) -> Option<i64> {
        None
    }

    /// Adjusts an object that is marked as being deleted and stays for now.
    fn mark_deleted(&self, _object: &mut Tree) {}

    /// Annotations that only the whole object shows; tables and metadata-only forms leave them out.
    fn annotations_of_the_whole(&self) -> &'static [&'static str] {
        &[]
    }

    /// What a table says of the object's row besides its cells.
    fn row_condition(&self, _object: &Tree) -> Option<RowCondition> {
        None
    }

    /// By this number the rows of a table are sorted, and by names where it is the same. Where there is none,
    /// they are in the order of names.
    fn row_rank(&self) -> Option<fn(&Tree) -> i64> {
        None
    }
}

/// The behaviour of a kind, for code that works with any kind.
pub type AnyBehaviour = dyn Behaviour<dyn ApiObject>;

/// All registered behaviours, by kind.
#[derive(Clone, Default)]
pub struct Behaviours {
    by_kind: HashMap<KindName, Arc<AnyBehaviour>>,
}

impl Behaviours {
    /// Gives objects of the kind `T` this behaviour. A later registration for the same kind replaces an
    /// earlier one.
    pub fn register<T: Kind>(&mut self, behaviour: impl Behaviour<T>) {
        let typed = Typed { behaviour, kind: PhantomData::<fn() -> T> };
        self.by_kind.insert(KindName::of(T::RESOURCE), Arc::new(typed));
    }

    /// The behaviour of a kind; one that does nothing where none was registered.
    pub fn of(&self, def: &'static ResourceDef) -> Arc<AnyBehaviour> {
        let registered = self.by_kind.get(&KindName::of(def)).map(Arc::clone);
        registered.unwrap_or_else(|| Arc::new(NoBehaviour))
    }
}

/// The adapter from one typed behaviour to all kinds.
struct Typed<T, B> {
    behaviour: B,
    kind: PhantomData<fn() -> T>,
}

const EXACT: &str = "a behaviour is called for objects of the kind that it was registered for";

fn typed<T: Kind>(object: &dyn ApiObject) -> &T {
    object.as_any().downcast_ref().expect(EXACT)
}

fn typed_mut<T: Kind>(object: &mut dyn ApiObject) -> &mut T {
    object.as_any_mut().downcast_mut().expect(EXACT)
}

impl<T: Kind, B: Behaviour<T>> Behaviour<dyn ApiObject> for Typed<T, B> {
    fn drop_gated(&self, object: &mut Tree, old: Option<&Tree>, gated: &GatedFields, def: &'static TypeDef) {
        self.behaviour.drop_gated(object, old, gated, def);
    }

    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, write: &WriteInfo<'_>) {
        self.behaviour.prepare(typed_mut(object), old.map(typed), write);
    }

    fn complete(&self, object: &mut dyn ApiObject, write: &WriteInfo<'_>) -> Vec<String> {
        self.behaviour.complete(typed_mut(object), write)
    }

    fn adds_items(&self, object: &dyn ApiObject, write: &WriteInfo<'_>) -> bool {
        self.behaviour.adds_items(typed(object), write)
    }

    fn refuse_change(&self, object: &dyn ApiObject, old: &dyn ApiObject) -> Option<FieldError> {
        self.behaviour.refuse_change(typed(object), typed(old))
    }

    fn validate(
        &self,
        object: &dyn ApiObject,
        old: Option<&dyn ApiObject>,
        write: &WriteInfo<'_>,
        violations: &mut Validation<'_>,
    ) {
        self.behaviour.validate(typed(object), old.map(typed), write, violations);
    }

    fn warns_of_change(&self, object: &Tree, old: &Tree) -> bool {
        self.behaviour.warns_of_change(object, old)
    }

    fn normalize(&self, object: &mut dyn ApiObject) {
        self.behaviour.normalize(typed_mut(object));
    }

    fn claim_sorts(&self) -> u16 {
        self.behaviour.claim_sorts()
    }

    fn claims(&self, object: &dyn ApiObject) -> Vec<Claim> {
        self.behaviour.claims(typed(object))
    }

    fn is_found_by_controller(&self) -> bool {
        self.behaviour.is_found_by_controller()
    }

    fn allocate(
        &self,
        object: &mut dyn ApiObject,
        old: Option<&dyn ApiObject>,
        claimed: &Claimed<'_>,
        violations: &mut Validation<'_>,
    ) -> Result<(), Unallocated> {
        self.behaviour.allocate(typed_mut(object), old.map(typed), claimed, violations)
    }

    fn overruled(&self, sent: &Tree, current: &Tree) -> Vec<Overruled> {
        self.behaviour.overruled(sent, current)
    }

    fn server_fields(&self, subresource: &str) -> &'static [FieldPath] {
        self.behaviour.server_fields(subresource)
    }

    fn kept_metadata(&self, subresource: &str) -> &'static [FieldPath] {
        self.behaviour.kept_metadata(subresource)
    }

    fn keeps_owners(&self, subresource: &str) -> bool {
        self.behaviour.keeps_owners(subresource)
    }

    fn added_fields(&self) -> &'static [FieldPath] {
        self.behaviour.added_fields()
    }

    fn keeps_sent_status(&self) -> bool {
        self.behaviour.keeps_sent_status()
    }

    fn may_be_removed(&self, object: &Tree) -> bool {
        self.behaviour.may_be_removed(object)
    }

    fn why_undeletable(&self, name: &str) -> Option<&'static str> {
        self.behaviour.why_undeletable(name)
    }

    fn is_deleted_in_steps(&self) -> bool {
        self.behaviour.is_deleted_in_steps()
    }

    fn grace_period(&self, object: &Tree, asked: Option<i64>) -> Option<i64> {
        self.behaviour.grace_period(object, asked)
    }

    fn mark_deleted(&self, object: &mut Tree) {
        self.behaviour.mark_deleted(object);
    }

    fn annotations_of_the_whole(&self) -> &'static [&'static str] {
        self.behaviour.annotations_of_the_whole()
    }

    fn row_condition(&self, object: &Tree) -> Option<RowCondition> {
        self.behaviour.row_condition(object)
    }

    fn row_rank(&self) -> Option<fn(&Tree) -> i64> {
        self.behaviour.row_rank()
    }
}

/// The behaviour of kinds for which none is registered.
struct NoBehaviour;

impl<T: ?Sized> Behaviour<T> for NoBehaviour {}

#[cfg(test)]
mod tests {
    use orch_api::{core::v1::ConfigMap, storage::v1::CSIDriver};
    use serde_json::json;

    use super::*;
    use crate::test_core::NAMESAKE;

    /// Hides an annotation, and claims the name of the object.
    struct Hides(&'static [&'static str]);

    impl<T: Kind> Behaviour<T> for Hides {
        fn claims(&self, object: &T) -> Vec<Claim> {
            let tree = serde_json::to_value(object).unwrap();
            vec![Claim { sort: 0, value: tree["metadata"]["name"].as_str().unwrap().to_owned() }]
        }

        fn annotations_of_the_whole(&self) -> &'static [&'static str] {
            self.0
        }
    }

    #[test]
    fn a_behaviour_is_that_of_exactly_one_kind() {
        let mut behaviours = Behaviours::default();
        behaviours.register::<CSIDriver>(Hides(&["a"]));
        for (def, expected) in
            [(CSIDriver::RESOURCE, &["a"][..]), (&NAMESAKE, &[]), (ConfigMap::RESOURCE, &[])]
        {
            let hidden = behaviours.of(def).annotations_of_the_whole();
            assert_eq!(hidden, expected, "{} {}", def.group, def.kind);
        }
    }

    #[test]
    fn a_later_registration_replaces_an_earlier_one() {
        let mut behaviours = Behaviours::default();
        behaviours.register::<CSIDriver>(Hides(&["a"]));
        behaviours.register::<ConfigMap>(Hides(&["b"]));
        behaviours.register::<CSIDriver>(Hides(&["c"]));
        assert_eq!(behaviours.of(CSIDriver::RESOURCE).annotations_of_the_whole(), ["c"]);
        assert_eq!(behaviours.of(ConfigMap::RESOURCE).annotations_of_the_whole(), ["b"]);
    }

    #[test]
    fn steps_get_the_typed_object() {
        let mut behaviours = Behaviours::default();
        behaviours.register::<ConfigMap>(Hides(&[]));
        let object = (ConfigMap::RESOURCE.from_tree)(json!({"metadata": {"name": "n"}})).unwrap();
        let claims = behaviours.of(ConfigMap::RESOURCE).claims(&*object);
        assert_eq!(claims, [Claim { sort: 0, value: "n".to_owned() }]);
        assert_eq!(Behaviours::default().of(ConfigMap::RESOURCE).claims(&*object), []);
    }
}
