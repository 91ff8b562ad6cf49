//! POST to a collection.

use orch_machinery::meta::Meta;
use orch_runtime::{Tree, resource_def::Verb};
use orch_storage::Write;

use super::{
    Answer, Call, Reply, admission, body,
    body_format::Body,
    current, metadata,
    options::WriteOptions,
    owners, store_error,
    write::{self, Draft, Ownership},
};
use crate::{
    error::{ApiError, ExistsDetail, ResourceName, Result},
    kinds,
};

/// How often a taken generated name is replaced by another one.
const NAME_ATTEMPTS: usize = 8;

/// Creates the object in the body.
///
/// # Errors
/// 400, 404 (namespace), 409 (the name is taken), 422, and what the store says.
pub async fn create(call: Call<'_>, text: &Body) -> Result<Reply> {
    let options = WriteOptions::parse(call, "CreateOptions")?;
    let mut submitted = body::decode(call, text, options.field_validation)?;
    submitted.warnings.extend(owners::drop_repeated(&mut submitted.tree, false));
    let mut warnings = submitted.warnings;
    let answer = store_new(call, submitted.tree, &options, &mut warnings).await?;
    Ok(Reply { answer, warnings })
}

/// Stores a new object; also the second half of an update that may create.
///
/// # Errors
/// As [`create`].
pub async fn store_new(
    call: Call<'_>,
    tree: Tree,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Answer> {
    store_draft(call, Draft { tree, ownership: Ownership::Tracked { given: None } }, options, warnings).await
}

/// Stores a new object whose fields may have owners already.
///
/// # Errors
/// As [`create`].
pub async fn store_draft(
    call: Call<'_>,
    draft: Draft,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Answer> {
    let Draft { mut tree, ownership } = draft;
    metadata::place(call.target, &mut tree)?;
    admission::namespace_exists(call, Meta::of(&tree).name())?;
    let def = call.target.resource.def;
    if def.has_status()
        && !kinds::hooks(def).keeps_given_status()
        && let Some(fields) = tree.as_object_mut()
    {
        fields.remove("status");
    }
    let may_shrink = matches!(ownership, Ownership::Tracked { .. });
    let base = Meta::of(&tree).generate_name().to_owned();
    let version = metadata::given_version(&tree).unwrap_or_default();
    let warned = warnings.len();
    let mut next = Some(Draft { tree, ownership });
    let mut last = String::new();
    for attempt in 1..=NAME_ATTEMPTS {
        let Some(mut draft) = next.take() else { break };
        // Only a name that is generated can be tried again.
        if attempt < NAME_ATTEMPTS && !base.is_empty() {
            next = Some(draft.clone());
        }
        warnings.truncate(warned);
        let generated = metadata::begin(call.target.resource.def, &mut draft.tree, call.app.now());
        let allocating = write::allocating(call).await;
        let new = write::ready_to_create(call, draft, options, warnings)?;
        check_right(call).await?;
        let name = Meta::of(&new.tree).name().to_owned();
        if options.dry_run {
            if let Some(existing) = current::lookup(call, &name)? {
                let deleting = Meta::of(&existing.tree).deletion_timestamp().is_some();
                return Err(taken(call, &name, &base, deleting));
            }
            return Ok(Answer::Transient { json: write::transient_form_of_new(call, &new), created: true });
        }
        if version != 0 {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(ApiError::Unclassified(message.to_owned()));
        }
        let body = write::stored_form_of_new(call, &new, may_shrink)?;
        match admission::store_in_namespace(
            call,
            Write::Create { key: current::key(call, &name), body },
            allocating,
        )
        .await
        {
            Ok(object) => return Ok(Answer::Created(object)),
            Err(store_error::Refused::Race) if generated => last = name,
            Err(store_error::Refused::Race) => {
                let deleting = current::lookup(call, &name)?
                    .is_some_and(|existing| Meta::of(&existing.tree).deletion_timestamp().is_some());
                return Err(taken(call, &name, &base, deleting));
            }
            Err(store_error::Refused::Error(error)) => return Err(error),
        }
    }
    Err(taken(call, &last, &base, false))
}

/// Who may only change objects cannot make them on this way. Clients are told what is wrong with the object first.
async fn check_right(call: Call<'_>) -> Result<()> {
    let Some(asker) = call.asker.filter(|_| call.target.verb != Verb::Create) else { return Ok(()) };
    let decision = asker.may(call.app, Verb::Create.as_str()).await;
    if decision.is_allowed() {
        return Ok(());
    }
    Err(ApiError::not_admitted(call.target.resource, &call.target.name, decision.reason()))
}

/// Who gives a base for names is told of it, also where the name was the client's own.
fn taken(call: Call<'_>, name: &str, base: &str, deleting: bool) -> ApiError {
    let detail = ExistsDetail { generated: !base.is_empty(), deleting };
    ApiError::AlreadyExists {
        resource: ResourceName::of(call.target.resource),
        name: name.to_owned(),
        detail,
    }
}
