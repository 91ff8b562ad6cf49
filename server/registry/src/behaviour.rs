//! Behaviour of kinds: what is not data.
//!
//! Most kinds have none. One that has implements [`Behaviour`] for its generated type and is registered with
//! [`Behaviours::register`], for exactly that group, version and kind; the product's kinds and a user's go the same
//! way. What a write does with an object of any kind goes through [`AnyBehaviour`], whose one adapter downcasts.
//!
//! Steps that change or check an object get the typed object. Steps of a deletion get the tree, because an object
//! whose stored form no longer fits its type can be deleted all the same.

use std::{collections::HashMap, marker::PhantomData, sync::Arc};

use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    object::{ApiObject, Kind},
    resource_def::{FieldPath, ResourceDef},
    scalar::Time,
    vocabulary::Vocabulary,
};

use crate::claims::{Claim, Claimed};

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

/// What a kind adds to the stages of a write. Every step has a default that does nothing.
pub trait Behaviour<T: Kind>: Send + Sync + 'static {
    /// Adjusts an object before defaults are filled; `old` is absent on create.
    fn prepare(&self, _object: &mut T, _old: Option<&T>, _write: &WriteInfo<'_>) {}

    /// A change that is no valid request at all: it is answered with 400 and this fault alone.
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

    /// How many sorts of values objects of the kind own alone, such as addresses and ports.
    fn claim_sorts(&self) -> u16 {
        0
    }

    /// The values that an object owns alone. No two objects of the kind can come to own the same value: the store
    /// checks that when a write commits.
    fn claims(&self, _object: &T) -> Vec<Claim> {
        Vec::new()
    }

    /// Gives a correct object what the server has to give, such as an address that nobody has. Two writers may be
    /// given the same value; the one that commits second runs again.
    fn allocate(
        &self,
        _object: &mut T,
        _old: Option<&T>,
        _claimed: &Claimed<'_>,
        _violations: &mut Validation<'_>,
    ) {
    }

    /// Fields that [`prepare`](Behaviour::prepare) sets on this path: no manager comes to own them.
    fn server_fields(&self, _subresource: &str) -> &'static [FieldPath] {
        &[]
    }

    /// Metadata that a write on this path leaves alone, whatever a client sends.
    fn kept_metadata(&self, _subresource: &str) -> &'static [FieldPath] {
        &[]
    }

    /// Fields that the behaviour or admission adds to a new object: a client owns them only if it sends them.
    fn added_fields(&self) -> &'static [FieldPath] {
        &[]
    }

    /// Whether a create keeps the status that the client sends.
    fn keeps_sent_status(&self) -> bool {
        false
    }

    /// Whether an object without finalizers may go; asked for a first DELETE and whenever an update leaves an object
    /// that is being deleted without finalizers.
    fn may_be_removed(&self, _object: &Tree) -> bool {
        true
    }

    /// How many seconds an object is given to end by itself when it is deleted; `asked` is what the client wants.
    /// `None` for a kind whose objects do not end by themselves.
    fn grace_period(&self, _object: &Tree, _asked: Option<i64>) -> Option<i64> {
        None
    }

    /// Adjusts an object that stays for now while it is being deleted.
    fn mark_deleted(&self, _object: &mut Tree) {}

    /// Annotations that only the whole object shows; tables and metadata-only forms leave them out.
    fn annotations_of_the_whole(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The behaviour of some kind, for code that works with all of them. See [`Behaviour`] for each step; a kind without a
/// behaviour has these defaults.
#[allow(missing_docs, reason = "each method is the one of the same name of `Behaviour`")]
pub trait AnyBehaviour: Send + Sync {
    fn prepare(&self, _object: &mut dyn ApiObject, _old: Option<&dyn ApiObject>, _write: &WriteInfo<'_>) {}
    fn refuse_change(&self, _object: &dyn ApiObject, _old: &dyn ApiObject) -> Option<FieldError> {
        None
    }
    fn validate(
        &self,
        _object: &dyn ApiObject,
        _old: Option<&dyn ApiObject>,
        _write: &WriteInfo<'_>,
        _violations: &mut Validation<'_>,
    ) {
    }
    fn claim_sorts(&self) -> u16 {
        0
    }
    fn claims(&self, _object: &dyn ApiObject) -> Vec<Claim> {
        Vec::new()
    }
    fn allocate(
        &self,
        _object: &mut dyn ApiObject,
        _old: Option<&dyn ApiObject>,
        _claimed: &Claimed<'_>,
        _violations: &mut Validation<'_>,
    ) {
    }
    fn server_fields(&self, _subresource: &str) -> &'static [FieldPath] {
        &[]
    }
    fn kept_metadata(&self, _subresource: &str) -> &'static [FieldPath] {
        &[]
    }
    fn added_fields(&self) -> &'static [FieldPath] {
        &[]
    }
    fn keeps_sent_status(&self) -> bool {
        false
    }
    fn may_be_removed(&self, _object: &Tree) -> bool {
        true
    }
    fn grace_period(&self, _object: &Tree, _asked: Option<i64>) -> Option<i64> {
        None
    }
    fn mark_deleted(&self, _object: &mut Tree) {}
    fn annotations_of_the_whole(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Behaviours by the kind that they were registered for.
#[derive(Clone, Default)]
pub struct Behaviours {
    by_kind: HashMap<KindName, Arc<dyn AnyBehaviour>>,
}

/// Group (in schema spelling), version and kind.
type KindName = (&'static str, &'static str, &'static str);

impl Behaviours {
    /// Gives objects of the kind `T` this behaviour. A later registration for the same kind takes the place of an
    /// earlier one.
    pub fn register<T: Kind>(&mut self, behaviour: impl Behaviour<T>) {
        let typed = Typed { behaviour, kind: PhantomData::<fn() -> T> };
        self.by_kind.insert(name_of(T::RESOURCE), Arc::new(typed));
    }

    /// The behaviour of a kind; one that does nothing where none was registered.
    pub fn of(&self, def: &'static ResourceDef) -> Arc<dyn AnyBehaviour> {
        let registered = self.by_kind.get(&name_of(def)).map(Arc::clone);
        registered.unwrap_or_else(|| Arc::new(NoBehaviour))
    }
}

fn name_of(def: &'static ResourceDef) -> KindName {
    (def.group, def.version, def.kind)
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

impl<T: Kind, B: Behaviour<T>> AnyBehaviour for Typed<T, B> {
    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, write: &WriteInfo<'_>) {
        self.behaviour.prepare(typed_mut(object), old.map(typed), write);
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

    fn claim_sorts(&self) -> u16 {
        self.behaviour.claim_sorts()
    }

    fn claims(&self, object: &dyn ApiObject) -> Vec<Claim> {
        self.behaviour.claims(typed(object))
    }

    fn allocate(
        &self,
        object: &mut dyn ApiObject,
        old: Option<&dyn ApiObject>,
        claimed: &Claimed<'_>,
        violations: &mut Validation<'_>,
    ) {
        self.behaviour.allocate(typed_mut(object), old.map(typed), claimed, violations);
    }

    fn server_fields(&self, subresource: &str) -> &'static [FieldPath] {
        self.behaviour.server_fields(subresource)
    }

    fn kept_metadata(&self, subresource: &str) -> &'static [FieldPath] {
        self.behaviour.kept_metadata(subresource)
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

    fn grace_period(&self, object: &Tree, asked: Option<i64>) -> Option<i64> {
        self.behaviour.grace_period(object, asked)
    }

    fn mark_deleted(&self, object: &mut Tree) {
        self.behaviour.mark_deleted(object);
    }

    fn annotations_of_the_whole(&self) -> &'static [&'static str] {
        self.behaviour.annotations_of_the_whole()
    }
}

/// What kinds without a registration have.
struct NoBehaviour;

impl AnyBehaviour for NoBehaviour {}
