//! Which version of the store a read shows: the rules of `resourceVersion`, `resourceVersionMatch`, `limit`
//! and `continue`, in one table.
//!
//! | request | version absent | `0` | another |
//! |---|---|---|---|
//! | get; list without limit and match | newest | any | not older |
//! | list with limit, without match | newest | any, and the limit is ignored | exact |
//! | list with continue | that of the token | that of the token | 400 |
//! | match `Exact` | 422 | 422 | exact |
//! | match `NotOlderThan` | 422 | any, and the limit is ignored | not older |
//!
//! "Newest" asks the store for what is committed, by any replica; "any" shows what is in memory.

use orch_runtime::field_error::Shown as _;
use orch_storage::{Revision, Snapshot, StoreError};

use crate::{
    catalog::ServedResource,
    error::{ApiError, Result},
    objects::Objects,
    store_error,
};

/// The version that a client names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedVersion {
    /// None.
    Unset,
    /// `0`: any.
    Zero,
    /// This one.
    At(Revision),
}

/// `resourceVersionMatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionMatch {
    /// At least as new.
    NotOlderThan,
    /// Exactly.
    Exact,
}

/// The version that a read shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The newest that is committed, by any replica.
    Newest,
    /// What is in memory.
    Any,
    /// This one or a later one.
    NotOlderThan(Revision),
    /// This one.
    Exact(Revision),
}

impl RequestedVersion {
    /// Reads `resourceVersion`. The reference answers some malformed versions with 500; this server always
    /// with 400. A number beyond the largest revision counts as that one: no write will reach either.
    ///
    /// # Errors
    /// 400 where it is not a number.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "" => Ok(RequestedVersion::Unset),
            text => match text.parse::<u64>() {
                Ok(number) if is_digits(text) => Ok(match Revision::new(number).min(Revision::MAX) {
                    Revision::ZERO => RequestedVersion::Zero,
                    revision => RequestedVersion::At(revision),
                }),
                _ => Err(not_a_version(text)),
            },
        }
    }
}

fn not_a_version(text: &str) -> ApiError {
    let (shown, fault) = (text.shown(), fault_of(text));
    ApiError::BadRequest(format!(
        "invalid resource version: resourceVersion: Invalid value: {shown}: {fault}"
    ))
}

/// What is wrong with a text that is no version, in the words of the reference.
pub fn fault_of(text: &str) -> String {
    let fault = if is_digits(text) { "value out of range" } else { "invalid syntax" };
    format!("strconv.ParseUint: parsing {}: {fault}", text.shown())
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Shown {
    /// What a read without `continue` shows. Combinations that make no sense were refused before.
    pub fn of(named: RequestedVersion, version_match: Option<VersionMatch>, limited: bool) -> Self {
        match (named, version_match) {
            (RequestedVersion::Unset, _) => Shown::Newest,
            (RequestedVersion::Zero, _) => Shown::Any,
            (RequestedVersion::At(revision), Some(VersionMatch::Exact)) => Shown::Exact(revision),
            (RequestedVersion::At(revision), None) if limited => Shown::Exact(revision),
            (RequestedVersion::At(revision), _) => Shown::NotOlderThan(revision),
        }
    }

    /// The objects of the request's resource at this version.
    ///
    /// # Errors
    /// 410 for an exact version that is gone, 504 for one that is not reached within a few seconds, and
    /// errors of the store.
    pub async fn snapshot(self, objects: &Objects, resource: &ServedResource) -> Result<Snapshot> {
        let storage = objects.storage();
        match self {
            Shown::Newest => {
                storage.barrier().await.map_err(|error| store_error::failure(objects, resource, error))?;
            }
            Shown::Any => {}
            Shown::NotOlderThan(version) => objects.wait_for(version).await?,
            Shown::Exact(version) => {
                objects.wait_for(version).await?;
                let snapshot = storage.snapshot_at_apart(&resource.storage_name, version).await;
                return snapshot.map_err(|error| match error {
                    StoreError::Expired { .. } => {
                        ApiError::Expired("The resourceVersion for the provided list is too old.".to_owned())
                    }
                    other => store_error::failure(objects, resource, other),
                });
            }
        }
        Ok(storage.snapshot(&resource.storage_name))
    }
}

#[cfg(test)]
mod tests {
    use orch_storage::Revision;

    use super::{
        RequestedVersion, Shown,
        VersionMatch::{Exact, NotOlderThan},
    };

    #[test]
    fn every_cell_of_the_table() {
        let seven = Revision::new(7);
        for (text, version_match, limited, expected) in [
            ("", None, false, Shown::Newest),
            ("", None, true, Shown::Newest),
            ("0", None, false, Shown::Any),
            ("0", None, true, Shown::Any),
            ("00", None, true, Shown::Any),
            ("0", Some(NotOlderThan), true, Shown::Any),
            ("7", None, false, Shown::NotOlderThan(seven)),
            ("7", None, true, Shown::Exact(seven)),
            ("7", Some(NotOlderThan), false, Shown::NotOlderThan(seven)),
            ("7", Some(NotOlderThan), true, Shown::NotOlderThan(seven)),
            ("7", Some(Exact), false, Shown::Exact(seven)),
            ("7", Some(Exact), true, Shown::Exact(seven)),
        ] {
            let named = RequestedVersion::parse(text).unwrap();
            let shown = Shown::of(named, version_match, limited);
            assert_eq!(shown, expected, "{text} {version_match:?} {limited}");
        }
    }

    #[test]
    fn a_version_is_a_number() {
        for text in ["abc", "-1", "+1", "1.5", "18446744073709551616", "99999999999999999999", "0x1"] {
            assert!(RequestedVersion::parse(text).is_err(), "{text}");
        }
        for text in ["9223372036854775807", "9223372036854775808", "18446744073709551615"] {
            assert_eq!(RequestedVersion::parse(text).unwrap(), RequestedVersion::At(Revision::MAX), "{text}");
        }
    }
}
