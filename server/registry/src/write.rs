//! A write, from what a client sent to the answer: its stages, in their order.
//!
//! An update is a function of the current object: when another write comes between, or when something that this one
//! relies on has changed, it runs again. Nothing is locked meanwhile; what must hold is checked by the store when the
//! write commits.

mod admit;
mod allocate;
pub mod body;
pub mod commit;
pub mod configuration;
mod default;
mod draft;
mod encode;
pub mod grace;
mod mutate;
pub mod names;
pub mod own;
mod owner_references;
pub mod patch;
pub mod place;
pub mod prepare;
pub mod propose;
pub mod races;
pub mod server_change;
mod validate;

use crate::{answer::Answer, context::RequestContext, error::Result, options::WriteOptions, request::Target};

use self::{propose::Proposal, races::Races};

/// What one attempt at a write is about.
#[derive(Clone, Copy)]
pub struct Attempt<'w> {
    /// The request.
    pub cx: &'w RequestContext<'w>,
    /// The object.
    pub target: &'w Target<'w>,
    /// How it is written.
    pub options: &'w WriteOptions,
}

/// Takes a proposal through all stages until it is stored, refused, or found to change nothing.
///
/// # Errors
/// Of each stage; 409 where other writes never stop coming between.
pub async fn write(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    proposal: &mut Proposal,
    options: &WriteOptions,
) -> Result<Answer> {
    let attempt = Attempt { cx, target, options };
    let warnings = cx.count_warnings();
    let mut races = Races::at(target);
    loop {
        cx.rewind_warnings(warnings);
        let proposed = propose::propose(attempt, proposal)?;
        let placed = place::place(attempt, proposed)?;
        let mut draft = prepare::prepare(attempt, placed)?;
        default::default(&mut draft);
        mutate::mutate(attempt, &mut draft).await?;
        validate::validate(attempt, &mut draft)?;
        admit::admit(attempt, &mut draft).await?;
        allocate::allocate(attempt, &mut draft)?;
        let owned = own::own(attempt, draft)?;
        let encoded = encode::encode(attempt, owned)?;
        match commit::commit_encoded(attempt, encoded, &mut races).await? {
            Some(answer) => return Ok(answer),
            None => races.lost().await?,
        }
    }
}
