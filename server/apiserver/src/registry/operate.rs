//! POST below an object: something is done to it, or made for it, as a body of another kind says.

use orch_machinery::gated::GatedFields;

use super::{Call, Reply, admission, body, body_format::Body, metadata, options::WriteOptions};
use crate::{
    error::{ApiError, Result},
    kinds::operations,
};

/// Does what the body asks for.
///
/// # Errors
/// 400, 404 (namespace or object), what the operation says, and 405 where nobody performs it.
pub async fn operate(call: Call<'_>, text: &Body) -> Result<Reply> {
    let options = WriteOptions::parse(call, "CreateOptions")?;
    let name = call.target.subresource.map_or("", |subresource| subresource.name);
    let Some(operation) = operations::of(call.target.resource.def, name) else {
        return Err(ApiError::MethodNotAllowed(String::new()));
    };
    let mut submitted = body::decode(call, text, options.field_validation)?;
    metadata::place(call.target, &mut submitted.tree)?;
    if let Some(body) = call.target.subresource.and_then(|subresource| subresource.body) {
        let gated = GatedFields::of(body.type_def, |gate| call.app.feature_gates.is_on(gate));
        gated.drop_from(&mut submitted.tree, None, body.type_def);
    }
    admission::namespace_exists(call, &call.target.name)?;
    let answer = operation.perform(call, submitted.tree, &options).await?;
    Ok(Reply { answer, warnings: submitted.warnings })
}
