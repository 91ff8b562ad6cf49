//! A write, from what a client sent to the answer: its stages, in their order.
//!
//! An update is a function of the current object. Nothing is locked while it runs: the store checks the
//! expected version and the conditions of the write when it commits. Where one no longer holds, the stages
//! run again.
//!
//! Proposals are made in the version that the client speaks. From **prepare** to **admit** the object is
//! one of the stored version, whose rules and behaviour are those of its kind.

mod admit;
mod allocate;
mod attempt;
pub(crate) mod body;
pub(crate) mod commit;
pub(crate) mod configuration;
mod default;
mod draft;
mod encode;
mod expected;
pub(crate) mod grace;
mod metadata_errors;
mod mutate;
pub(crate) mod names;
pub mod own;
mod owner_references;
pub(crate) mod patch;
pub(crate) mod place;
pub(crate) mod plugins;
pub(crate) mod prepare;
pub mod propose;
pub(crate) mod races;
pub mod server_change;
mod update_errors;
mod validate;

use crate::{
    answer::Answer, context::RequestContext, error::Result, options::WriteOptions, request::Target,
    scale::Scaling,
};

pub use attempt::Attempt;
pub use names::generated_name;

use self::{propose::Proposal, races::Races};

/// Takes a proposal through all stages until it is stored, refused, or found to change nothing.
///
/// # Errors
/// The errors of each stage; 409 where the write has lost too many races.
pub async fn write(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    proposal: &mut Proposal,
    options: &WriteOptions,
) -> Result<Answer> {
    let attempt = Attempt { cx, target, options };
    let in_storage_version = target.in_storage_version();
    let ruled = Attempt { target: in_storage_version.as_ref().unwrap_or(target), ..attempt };
    let warnings = cx.count_warnings();
    let mut races = Races::at(target);
    loop {
        cx.rewind_warnings(warnings);
        let proposed = propose::propose(attempt, proposal)?;
        let placed = place::place(attempt, proposed)?;
        let mut draft = prepare::prepare(attempt, ruled, placed)?;
        default::default(&mut draft);
        mutate::mutate(ruled, &mut draft).await?;
        allocate::allocate(ruled, &mut draft)?;
        validate::validate(ruled, &mut draft)?;
        admit::admit(ruled, &mut draft).await?;
        let owned = own::own(attempt, draft)?;
        let encoded = encode::encode(attempt, owned)?;
        match commit::commit_encoded(attempt, encoded, &mut races).await? {
            Some(answer) => {
                return match Scaling::of(target) {
                    Some(scaling) => scaling.shown(answer),
                    None => Ok(answer),
                };
            }
            None => races.lost().await?,
        }
    }
}
