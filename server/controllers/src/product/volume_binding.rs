//! Volumes and claims find each other.
//!
//! A claim gets the volume that it names, the one that is reserved for it, or the smallest that suffices
//! ([`matching`]). One controller writes claims and the references of volumes ([`claims`]), the other one
//! the phases of volumes ([`volumes`]).

mod annotations;
mod claims;
mod known;
mod matching;
mod view;
mod volumes;

use self::known::Known;
pub(super) use self::{claims::ClaimBinder, volumes::VolumeKeeper};

/// In whose name both report events: that of the one controller of the reference.
const EVENT_SOURCE: &str = "persistentvolume-controller";

/// The two controllers, which tell each other who waits for whom.
pub(super) fn binders() -> (ClaimBinder, VolumeKeeper) {
    let known = Known::default();
    (ClaimBinder::new(known.clone()), VolumeKeeper::new(known))
}
