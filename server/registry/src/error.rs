//! Why a request fails, in the server's own terms.
//!
//! Verbs return [`ApiError`]; whoever speaks HTTP turns it into the `Status` object that clients read, once, at the
//! edge. Text that must not reach a client travels in [`ApiError::Internal`] beside the text that may.

use orch_machinery::apply::Conflicts;
use orch_runtime::field_error::FieldError;

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
    /// 404 as plain text: the path is none of this server's.
    UnknownPath,
    /// 405: the path exists, the method does not; these do, as the header `Allow` lists them.
    MethodNotAllowed(String),
    /// 409: an object of that name exists.
    AlreadyExists {
        /// Its resource.
        resource: ResourceName,
        /// Its name.
        name: String,
        /// What else there is to say.
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
    /// 422: fields are wrong. An empty kind is that of a patch whose result cannot be read.
    Invalid {
        /// `""` for the core group.
        group: String,
        /// `ConfigMap`.
        kind: String,
        /// The object's name, as far as known.
        name: String,
        /// Every offence.
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
    /// 406: no acceptable representation; these exist.
    NotAcceptable(Vec<String>),
    /// 406: not even the media type is known; these are. Existing clients see empty details here.
    UnknownMediaType(Vec<String>),
    /// 415: the body is in no format that is read here; these are.
    UnsupportedMediaType(Vec<String>),
    /// 415: the patch is of no kind that is understood here.
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
    /// 429: try again after so many seconds.
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
    /// 500 without a reason: refused by a check that has no better class; existing clients know it so.
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
    /// What it was about; the group may be empty, the resource too for paths outside the API.
    pub resource: ResourceName,
    /// The object, where the request names one.
    pub name: String,
    /// The sentence that says it.
    pub message: String,
    /// `(reason, message, field)` of a machine-readable cause.
    pub cause: Option<(&'static str, String, &'static str)>,
}

/// What else there is to say about an object that exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExistsDetail {
    /// The client gave a base for names: another name may be free.
    pub generated: bool,
    /// It is being deleted; the name becomes free later.
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

    /// 422 for an object of a served kind.
    pub fn invalid(resource: &ServedResource, name: &str, errors: Vec<FieldError>) -> Self {
        ApiError::Invalid {
            group: resource.group.clone(),
            kind: resource.def.kind.to_owned(),
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
            format!("{} \"{name}\" is forbidden: {why}", subject.qualified())
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
