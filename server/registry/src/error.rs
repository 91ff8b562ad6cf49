//! Why a request fails, in the server's own terms.
//!
//! Verbs return [`ApiError`]. The HTTP layer turns it into the `Status` object that clients read. Text that
//! must not reach a client is kept apart in [`ApiError::Internal`].

use orch_machinery::apply::Conflicts;
use orch_runtime::field_error::{FieldError, Shown as _};

use crate::catalog::ServedResource;

/// Shorthand for verbs and their stages.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// The resource that an error is about, under its served name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceName {
    /// `""` for the core group.
    pub group: String,
    /// `configmaps`.
    pub resource: String,
}

impl ResourceName {
    /// The name of a served resource.
    pub fn of(resource: &ServedResource) -> Self {
        ResourceName { group: resource.group.clone(), resource: resource.def.plural.to_owned() }
    }

    /// `configmaps`, `leases.coordination.orch.io`.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.resource.clone()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }
}

/// Why a request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// 404: the object does not exist.
    NotFound {
        /// Its resource.
        resource: ResourceName,
        /// Its name.
        name: String,
    },
    /// 404: the path names a served group but nothing in it.
    UnknownResource,
    /// 404 as plain text: the server has no such path.
    UnknownPath,
    /// 405: the path exists but not the method. These methods do, in the form of the header `Allow`.
    MethodNotAllowed(String),
    /// 409: an object of that name exists.
    AlreadyExists {
        /// Its resource.
        resource: ResourceName,
        /// Its name.
        name: String,
        /// What the message adds.
        detail: ExistsDetail,
    },
    /// 409: the object is not in the state that the request relies on.
    Conflict {
        /// Its resource.
        resource: ResourceName,
        /// Its name.
        name: String,
        /// Which expectation failed.
        cause: String,
    },
    /// 409: an apply would change what other managers own.
    ApplyConflict(Conflicts),
    /// 422: fields are wrong. The kind is empty where the result of a patch cannot be read.
    Invalid {
        /// `""` for the core group.
        group: String,
        /// `ConfigMap`.
        kind: String,
        /// The object's name, as far as known.
        name: String,
        /// Every violation.
        errors: Vec<FieldError>,
    },
    /// 422: a patch cannot be applied to the object as it is; why, for the log.
    Unprocessable(String),
    /// 400: the request makes no sense.
    BadRequest(String),
    /// 401: the credentials are missing or wrong.
    Unauthorized,
    /// 403: the user may not do this.
    Forbidden(Box<Forbidden>),
    /// 406: no acceptable representation; these media types are offered.
    NotAcceptable(Vec<String>),
    /// 406: the media type is not known; these are. Unlike [`NotAcceptable`](ApiError::NotAcceptable), the
    /// Status has empty details.
    UnknownMediaType(Vec<String>),
    /// 406: the answer does not have the form that is asked for; why.
    NotOfThatForm(String),
    /// 415: the format of the body is not supported; these are.
    UnsupportedMediaType(Vec<String>),
    /// 415: the kind of patch is not supported.
    UnsupportedPatchType,
    /// 413: the body is too large; why.
    TooLarge(String),
    /// 410: the version asked for is no longer known.
    Expired(String),
    /// 410: the version of a paged list is no longer known.
    ExpiredContinue {
        /// Continues the list at the newest version instead.
        token: String,
    },
    /// 504: the version asked for is not reached yet.
    TooLargeResourceVersion {
        /// What the client asked for.
        asked: u64,
        /// What the server has.
        current: u64,
    },
    /// 504: the request took too long.
    Timeout(String),
    /// 429: too many requests.
    TooManyRequests {
        /// What is scarce.
        message: String,
        /// Seconds to wait.
        retry_after: u32,
    },
    /// 429: a disruption budget keeps a pod from being evicted now.
    Disruption {
        /// Which budget, and why.
        cause: String,
        /// Seconds to wait, where that is known; 0 otherwise.
        retry_after: u32,
    },
    /// 503: the server cannot answer now.
    Unavailable(String),
    /// 507: the disk is full.
    InsufficientStorage(String),
    /// 500 without a reason: an input error for which the reference has no better code.
    Unclassified(String),
    /// 500: the server is at fault.
    Internal {
        /// What the client may read.
        public: String,
        /// What only the log may hold.
        detail: String,
    },
}

/// Who may not do what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// What it was about. The resource is empty for paths outside the API.
    pub resource: ResourceName,
    /// The object, where the request names one.
    pub name: String,
    /// The message of the Status.
    pub message: String,
    /// `(reason, message, field)` of a machine-readable cause.
    pub cause: Option<(&'static str, String, &'static str)>,
}

/// What the message says besides that an object exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExistsDetail {
    /// The client sent a `generateName`: another name may be free.
    pub generated: bool,
    /// The existing object is being deleted; the name becomes free later.
    pub deleting: bool,
}

impl ApiError {
    /// 404 for an object of a served resource.
    pub fn not_found(resource: &ServedResource, name: &str) -> Self {
        ApiError::NotFound { resource: ResourceName::of(resource), name: name.to_owned() }
    }

    /// 409 for an object of a served resource.
    pub fn conflict(resource: &ServedResource, name: &str, cause: impl Into<String>) -> Self {
        ApiError::Conflict {
            resource: ResourceName::of(resource),
            name: name.to_owned(),
            cause: cause.into(),
        }
    }

    /// 409 for an object that is another one than the request means: `what`, its uid or version, is `have`
    /// and not `wanted`. The words are those of the reference's store, which tells its key.
    pub fn failed_precondition(
        resource: &ServedResource,
        (namespace, name): (&str, &str),
        what: &str,
        wanted: &str,
        have: &str,
    ) -> Self {
        let plural = resource.def.plural;
        let slash = if namespace.is_empty() { "" } else { "/" };
        let cause = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{plural}/{namespace}{slash}{name}, \
             ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {what} in precondition: {wanted}, {what} \
             in object meta: {have}"
        );
        Self::conflict(resource, name, cause)
    }

    /// 422 for an object of a served kind.
    pub fn invalid(resource: &ServedResource, name: &str, errors: Vec<FieldError>) -> Self {
        // An object is judged as that as which it is stored.
        let judged = resource.stored();
        ApiError::Invalid {
            group: judged.group.clone(),
            kind: judged.def.kind.to_owned(),
            name: name.to_owned(),
            errors,
        }
    }

    /// 403 by a rule of admission, not by authorization.
    pub fn not_admitted(resource: &ServedResource, name: &str, why: &str) -> Self {
        let subject = ResourceName::of(resource);
        let message = if name.is_empty() {
            format!("{} is forbidden: {why}", subject.qualified())
        } else {
            format!("{} {} is forbidden: {why}", subject.qualified(), name.shown())
        };
        ApiError::Forbidden(Box::new(Forbidden {
            resource: subject,
            name: name.to_owned(),
            message,
            cause: None,
        }))
    }

    /// 500 whose detail stays in the log.
    pub fn internal(public: impl Into<String>, detail: impl std::fmt::Display) -> Self {
        ApiError::Internal { public: public.into(), detail: detail.to_string() }
    }
}
