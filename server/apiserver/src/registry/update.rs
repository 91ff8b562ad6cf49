//! PUT and PATCH: an update is a function of the current object and runs again when another write comes between.

use orch_machinery::meta::{self, Meta};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    path::Path,
};
use orch_storage::Write;

use super::{
    Answer, Call, Reply, body,
    body_format::Body,
    configuration::Configuration,
    create,
    current::{self, Current},
    metadata,
    options::WriteOptions,
    owners,
    patch::Patch,
    store_error,
    turn::{MAX_ATTEMPTS, Turn},
    write::{self, Draft, Ownership},
};
use crate::{
    error::{ApiError, Result},
    kinds,
};

/// What a lost race, or a version that the client remembers wrongly, is called.
pub const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// What an update makes of the current object.
pub enum Proposal {
    /// The object of a PUT, whatever the current one is.
    Replacement(Tree),
    /// A patch of the current one.
    Patch(Patch),
    /// What a manager wants of it.
    Configuration(Configuration),
}

/// Replaces the object by the one in the body.
///
/// # Errors
/// 400, 404, 409 (stale version or another uid), 422, and what the store says.
pub async fn replace(call: Call<'_>, text: &Body) -> Result<Reply> {
    let options = WriteOptions::parse(call, "UpdateOptions")?;
    let mut submitted = body::decode(call, text, options.field_validation)?;
    metadata::place(call.target, &mut submitted.tree)?;
    metadata::check_name(call.target, &submitted.tree)?;
    submitted.warnings.extend(owners::drop_repeated(&mut submitted.tree, false));
    let (mut warnings, mut doubts) = (submitted.warnings, Vec::new());
    let answer = apply(call, &Proposal::Replacement(submitted.tree), &options, &mut doubts).await?;
    warnings.append(&mut doubts);
    Ok(Reply { answer, warnings })
}

/// Applies a proposal to the current object until no other write comes between.
///
/// # Errors
/// As [`replace`], and those of the patch.
pub async fn apply(
    call: Call<'_>,
    proposal: &Proposal,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Answer> {
    let mut turn = Turn::at(&current::key(call, &call.target.name));
    for _ in 0..MAX_ATTEMPTS {
        turn.wait().await;
        warnings.clear();
        let Some(current) = current::lookup(call, &call.target.name)? else {
            // A create waits for its namespace, and must not keep others from theirs meanwhile.
            turn.leave();
            match create_instead(call, proposal, options, warnings).await {
                // Another create came first: what was a create is an update now.
                Err(ApiError::AlreadyExists { .. }) => continue,
                answered => return answered,
            }
        };
        let proposed = propose(call, proposal, &current, options, warnings)?;
        match attempt(call, current, proposed, options, warnings).await {
            Err(store_error::Refused::Race) => turn.lost(),
            Ok(answer) => return Ok(answer),
            Err(store_error::Refused::Error(error)) => return Err(error),
        }
    }
    Err(ApiError::conflict(call.target.resource, &call.target.name, MODIFIED))
}

/// An apply of a missing object creates it, and so does a PUT where the kind allows that.
async fn create_instead(
    call: Call<'_>,
    proposal: &Proposal,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Answer> {
    if let Proposal::Replacement(tree) = proposal {
        check_uid(call, "", tree)?;
    }
    let (mut tree, ownership) = match proposal {
        _ if call.target.subresource.is_some() => return Err(missing(call)),
        Proposal::Replacement(tree) if call.target.resource.def.create_on_update => {
            (tree.clone(), Ownership::Tracked { given: None })
        }
        Proposal::Configuration(configuration) => {
            configuration.check_creates(call)?;
            let applied = configuration.apply(call, None, options, warnings)?;
            (applied.tree, applied.ownership)
        }
        Proposal::Replacement(_) | Proposal::Patch(_) => return Err(missing(call)),
    };
    metadata::given_version(&tree)?;
    meta::metadata_mut(&mut tree).remove("resourceVersion");
    create::store_draft(call, Draft { tree, ownership }, options, warnings).await
}

fn missing(call: Call<'_>) -> ApiError {
    ApiError::not_found(call.target.resource, &call.target.name)
}

fn propose(
    call: Call<'_>,
    proposal: &Proposal,
    current: &Current,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Draft> {
    let (mut proposed, settled) = match proposal {
        Proposal::Replacement(tree) => {
            check_uid(call, Meta::of(&current.tree).uid(), tree)?;
            (tree.clone(), None)
        }
        Proposal::Patch(patch) => {
            let mut patched = patch.apply(call, current, options.field_validation, warnings)?;
            metadata::place(call.target, &mut patched)?;
            metadata::check_name(call.target, &patched)?;
            warnings.extend(owners::drop_repeated(&mut patched, true));
            (patched, None)
        }
        Proposal::Configuration(configuration) => {
            let applied = configuration.apply(call, Some(&current.tree), options, warnings)?;
            (applied.tree, Some(applied.ownership))
        }
    };
    check_version(call, current, &proposed)?;
    restrict(call, &current.tree, &mut proposed);
    let given = metadata::carry_over(&current.tree, &mut proposed);
    Ok(Draft { tree: proposed, ownership: settled.unwrap_or(Ownership::Tracked { given }) })
}

async fn attempt(
    call: Call<'_>,
    mut current: Current,
    draft: Draft,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Answer, store_error::Refused> {
    let may_shrink = matches!(draft.ownership, Ownership::Tracked { .. });
    let allocating = write::allocating(call).await;
    let (tree, differs) = write::ready_to_update(call, &mut current, draft, options, warnings)?;
    let completes_deletion = Meta::of(&tree).deletion_timestamp().is_some()
        && Meta::of(&tree).deletion_grace_period_seconds().unwrap_or(0) == 0
        && Meta::of(&tree).finalizers().next().is_none()
        && kinds::hooks(call.target.resource.def).may_be_removed(&tree);
    if !completes_deletion && !differs {
        return Ok(Answer::Object(current.object));
    }
    if options.dry_run {
        return Ok(Answer::Transient { json: write::transient_form(call, &tree), created: false });
    }
    let key = current::key(call, &call.target.name);
    let expected = current.revision();
    if completes_deletion {
        // Watchers see the last state that was stored; the client sees what it made of it.
        let last = current::tree_of(call.target.resource, &current.object)?;
        let body = write::stored_form(call, &last, false)?;
        write::commit(call, Write::Remove { key, expected, body }).await?;
        return Ok(Answer::Transient { json: write::transient_form(call, &tree), created: false });
    }
    let body = write::stored_form(call, &tree, may_shrink)?;
    let replaced = write::replacement(&current, &tree, key, body);
    Ok(Answer::Object(match allocating {
        None => write::commit(call, replaced).await?,
        Some(held) => write::commit_holding(call, replaced, held).await?,
    }))
}

fn check_version(call: Call<'_>, current: &Current, proposed: &Tree) -> Result<()> {
    let resource = call.target.resource;
    let wanted = metadata::given_version(proposed)?;
    if wanted == 0 {
        if resource.def.unconditional_update {
            return Ok(());
        }
        let mut cx = Validation::new(call.app.catalog.vocabulary);
        let metadata = Path::ROOT.field("metadata");
        let detail = "must be specified for an update";
        cx.push(FieldError::invalid(&metadata.field("resourceVersion"), &0_i32, detail));
        // Existing clients find the resource here, not the kind.
        return Err(ApiError::Invalid {
            group: resource.group.clone(),
            kind: resource.def.plural.to_owned(),
            name: call.target.name.to_string(),
            errors: cx.into_errors(),
        });
    }
    if wanted == current.revision().get() {
        return Ok(());
    }
    Err(ApiError::conflict(resource, &call.target.name, MODIFIED))
}

/// A uid in a PUT is a precondition; that a patch cannot change it is a rule of metadata.
fn check_uid(call: Call<'_>, have: &str, proposed: &Tree) -> Result<()> {
    let wanted = Meta::of(proposed).uid();
    if wanted.is_empty() || wanted == have {
        return Ok(());
    }
    let cause = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {have}");
    Err(ApiError::conflict(call.target.resource, &call.target.name, cause))
}

/// The main path leaves the status alone, and `/status` leaves everything else alone; of metadata, what the kind says.
fn restrict(call: Call<'_>, current: &Tree, proposed: &mut Tree) {
    let def = call.target.resource.def;
    let subresource = call.target.subresource.map_or("", |subresource| subresource.name);
    for path in kinds::hooks(def).kept_metadata(subresource) {
        let Some(name) = path.last() else { continue };
        let metadata = meta::metadata_mut(proposed);
        match Meta::of(current).get(name) {
            Some(value) => drop(metadata.insert((*name).to_owned(), value.clone())),
            None => drop(metadata.remove(*name)),
        }
    }
    if !def.has_status() && subresource.is_empty() {
        return;
    }
    for field in def.type_def.fields.iter().map(|field| field.name).filter(|name| *name != "metadata") {
        let from_client = (field == "status") == (subresource == "status");
        if from_client {
            continue;
        }
        match (proposed.as_object_mut(), current.get(field)) {
            (Some(fields), Some(value)) => {
                fields.insert(field.to_owned(), value.clone());
            }
            (Some(fields), None) => {
                fields.remove(field);
            }
            (None, _) => {}
        }
    }
}
