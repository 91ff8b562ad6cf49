//! The stage **validate**: the rules of the schema, then those of the kind's behaviour. All violations are
//! reported together. An object without any is put into the form in which it is stored.

use orch_runtime::resource_def::NameFormat;

use super::{
    attempt::Attempt,
    draft::Draft,
    metadata_errors, names,
    prepare::write_info,
    update_errors::{Found, OF_SUBRESOURCES},
};
use crate::error::{ApiError, Result};

/// Runs the rules.
///
/// # Errors
/// 422 with every violation; 400 for a change that the kind's behaviour refuses.
pub fn validate(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let resource = attempt.target.resource;
    let behaviour = &*resource.behaviour;
    let violations = &mut draft.placed.violations;
    let (object, old) = (&*draft.object, draft.old.as_deref());
    if let Some(old) = old
        && let Some(fault) = behaviour.refuse_change(object, old)
    {
        let (kind, name) = (&resource.group_kind, &attempt.target.name);
        return Err(ApiError::BadRequest(format!("{kind} \"{name}\" is invalid: {fault}")));
    }
    let of_metadata = violations.take_errors();
    object.validate(violations);
    match old {
        None => violations.prepend(of_metadata),
        Some(old) => {
            let of_object = violations.take_errors();
            object.validate_update(old, violations);
            let change = violations.take_errors();
            let base = &*draft.placed.generate_name;
            let found = Found {
                base: names::base_errors(NameFormat::PathSegment, base),
                base_of_kind: names::base_errors(resource.def.name_format, base),
                metadata: of_metadata,
                object: of_object,
                change,
            };
            let is_main_path = attempt.target.subresource.is_none();
            let checks = if is_main_path { resource.def.update_checks } else { OF_SUBRESOURCES };
            found.told(checks).into_iter().for_each(|error| violations.push(error));
        }
    }
    object.validate_expressions(old, violations);
    behaviour.validate(object, old, &write_info(attempt), violations);
    let found = violations.take_errors();
    let told = metadata_errors::told(resource.def.metadata_rules, old.is_none(), found);
    for error in told {
        violations.push(error);
    }
    refuse_violations(attempt, draft)?;
    behaviour.normalize(&mut *draft.object);
    Ok(())
}

/// Ends the write where there are violations.
///
/// # Errors
/// 422 with every violation.
pub fn refuse_violations(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    if draft.placed.violations.is_empty() {
        return Ok(());
    }
    let none = orch_runtime::field_error::Validation::new(attempt.cx.core.vocabulary());
    let violations = std::mem::replace(&mut draft.placed.violations, none);
    Err(ApiError::invalid(attempt.target.resource, &draft.placed.name, violations.into_errors()))
}
