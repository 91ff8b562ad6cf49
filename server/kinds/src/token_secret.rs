//! Secrets that hold tokens of service accounts: how they name the account, and under which keys they have
//! what a program needs to use the token.

use orch_api::core::v1::Secret;
use orch_runtime::{Tree, vocabulary::Vocabulary};

/// The key of the token.
pub const TOKEN: &str = "token";
/// The key of the authorities that the server's certificate is trusted by, in PEM.
pub const AUTHORITY: &str = "ca.crt";
/// The key of the namespace of the account.
pub const NAMESPACE: &str = "namespace";

/// The account that a secret names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountName {
    /// Its name, in the namespace of the secret.
    pub name: String,
    /// Its uid; empty where the secret is for any account of that name.
    pub uid: String,
}

/// The account whose token the secret is to hold; `None` for secrets of other types.
pub fn account_of(secret: &Secret, vocabulary: &Vocabulary) -> Option<AccountName> {
    if secret.type_ != vocabulary.label("service-account-token") {
        return None;
    }
    let annotation = |key: String| secret.metadata.annotations.get(&key).cloned().unwrap_or_default();
    let [name, uid] = annotations(vocabulary).map(annotation);
    (!name.is_empty()).then_some(AccountName { name, uid })
}

/// The annotations with the name and the uid of the account.
pub fn annotations(vocabulary: &Vocabulary) -> [String; 2] {
    ["name", "uid"].map(|what| vocabulary.label(&format!("service-account.{what}")))
}

/// Takes out of such a secret what is right on one server only: the uid of the account, and what is filled
/// in.
pub fn empty(secret: &mut Tree, vocabulary: &Vocabulary) {
    if secret["type"] != vocabulary.label("service-account-token").as_str() {
        return;
    }
    let [_, uid] = annotations(vocabulary);
    let of_server =
        [("/metadata/annotations", vec![uid.as_str()]), ("/data", vec![TOKEN, AUTHORITY, NAMESPACE])];
    for (place, keys) in of_server {
        if let Some(map) = secret.pointer_mut(place).and_then(Tree::as_object_mut) {
            map.retain(|key, _| !keys.contains(&key.as_str()));
        }
    }
}

/// Whether an operator has ended the token: a label says since when.
pub(crate) fn is_ended(secret: &Secret, vocabulary: &Vocabulary) -> bool {
    secret.metadata.labels.get(&ended_label(vocabulary)).is_some_and(|since| !since.is_empty())
}

/// The label that says so.
pub(crate) fn ended_label(vocabulary: &Vocabulary) -> String {
    vocabulary.label("legacy-token-invalid-since")
}
