//! POST of a kind that is no object: a question, which is answered at once and never stored.

use orch_machinery::{json::encode::encode, managed_fields, meta::MetaMut};
use orch_runtime::{Tree, field_error::Validation, object::ApiObject};

use super::{Answer, Call, Reply, body, body_format::Body, metadata, options::WriteOptions, write};
use crate::{
    error::{ApiError, Result},
    kinds::reviews::{self, Asked},
};

/// Answers the question in the body. A dry run is the same: nothing is ever changed.
///
/// # Errors
/// 400, 422, and 405 where nobody answers questions of this kind.
pub async fn review(call: Call<'_>, text: &Body) -> Result<Reply> {
    let resource = call.target.resource;
    let options = WriteOptions::parse(call, "CreateOptions")?;
    let mut submitted = body::decode(call, text, options.field_validation)?;
    metadata::place(call.target, &mut submitted.tree)?;
    write::drop_gated(call, &mut submitted.tree, None);
    let (Some(answers), Some(asker)) = (reviews::of(resource.def), call.asker) else {
        return Err(ApiError::MethodNotAllowed(String::new()));
    };
    let mut question = (resource.def.from_tree)(submitted.tree).map_err(|error| {
        let def = resource.def;
        ApiError::BadRequest(format!(
            "{0} in version \"{1}\" cannot be handled as a {0}: {error}",
            def.kind, def.version
        ))
    })?;
    question.set_defaults();
    answers.prepare(&mut *question)?;
    let mut cx = Validation::new(call.app.catalog.vocabulary);
    question.validate(&mut cx);
    if !cx.is_empty() {
        // Clients know these errors without a kind and a name.
        let (group, errors) = (resource.group.clone(), cx.into_errors());
        return Err(ApiError::Invalid { group, kind: String::new(), name: String::new(), errors });
    }
    let owners = if answers.repeats_question() { owners(call, &options, &*question)? } else { None };
    answers.answer(Asked { call, user: asker.caller.user(), question: &mut *question }).await?;
    let mut tree = tree(call, &*question)?;
    if owners.is_some() {
        MetaMut::of(&mut tree).set("managedFields", owners);
    }
    let mut json = Vec::new();
    encode(&tree, resource.def.type_def, &mut json);
    json.push(b'\n');
    let answer = Answer::Transient { json: json.into(), created: true };
    Ok(Reply { answer, warnings: submitted.warnings })
}

/// Who set which field of the question: all of it but the answer.
fn owners(call: Call<'_>, options: &WriteOptions, question: &dyn ApiObject) -> Result<Option<Tree>> {
    let mut tree = tree(call, question)?;
    let time = call.app.now().to_string();
    let write = write::ownership(call, options, &time, &[&["status"]]);
    managed_fields::track_create(
        &write,
        write::empty_object(call)?,
        &mut tree,
        call.target.resource.def.type_def,
    );
    Ok(tree.pointer_mut("/metadata/managedFields").map(Tree::take))
}

fn tree(call: Call<'_>, question: &dyn ApiObject) -> Result<Tree> {
    let mut tree =
        question.to_tree().map_err(|error| ApiError::internal("the review cannot be written", error))?;
    body::set_kind(call.target, &mut tree);
    Ok(tree)
}
