//! Signs the kubeconfig in the config map `cluster-info` with bootstrap tokens (spec, "Authentication", 7):
//! who has a token can tell that the public config map was made by somebody who has it too.
//!
//! A signature is a JWS (RFC 7515) with HS256 and a detached payload, under the key `jws-kubeconfig-<id>`;
//! the shared secret is the full token.

use std::{collections::BTreeMap, time::Duration};

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use orch_api::core::v1::{ConfigMap, Namespace, Secret};
use orch_registry::error::{ApiError, Result};
use orch_runtime::{object::Kind, vocabulary::Vocabulary};
use serde_json::json;

use super::bootstrap_tokens::{Expiration, expiration, is_token, may_sign, signing};
use crate::{
    account::Account,
    controller::{Action, Context, Controller},
    key::ObjectKey,
    trigger::{Changed, Trigger},
};

const NAME: &str = "cluster-info";
const SIGNED: &str = "kubeconfig";
const SIGNATURE_PREFIX: &str = "jws-kubeconfig-";

/// See the module.
pub(super) struct BootstrapSigner {
    vocabulary: &'static Vocabulary,
}

impl BootstrapSigner {
    /// In the namespaces of a vocabulary.
    pub(super) fn new(vocabulary: &'static Vocabulary) -> Self {
        BootstrapSigner { vocabulary }
    }
}

impl Controller for BootstrapSigner {
    /// The namespace that the config map stands in.
    type Resource = Namespace;

    fn name(&self) -> &'static str {
        "bootstrap-signer-controller"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("bootstrap-signer")
    }

    fn is_on_by_default(&self) -> bool {
        false
    }

    fn also_watches(&self) -> Vec<Trigger> {
        let Vocabulary { namespace_public: public, namespace_system: system, .. } = *self.vocabulary;
        let trigger = |kind, concerns: fn(&ObjectKey) -> bool, namespace: &'static str| {
            Trigger::new(kind, move |change: &Changed<'_>| {
                let object = change.after.or(change.before);
                let key = object.map(|object| ObjectKey::from(object.key()));
                let is_concerned = key.is_some_and(|key| &*key.namespace == namespace && concerns(&key));
                if is_concerned { vec![ObjectKey::new("", public)] } else { Vec::new() }
            })
        };
        vec![
            trigger(ConfigMap::RESOURCE, |key| &*key.name == NAME, public),
            trigger(Secret::RESOURCE, |key| may_sign(&key.name), system),
        ]
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let vocabulary = self.vocabulary;
        if &*key.name != vocabulary.namespace_public {
            return Ok(Action::Done);
        }
        // A server without the kinds has nothing to sign.
        let (Ok(maps), Ok(secrets)) = (cx.api::<ConfigMap>(), cx.api::<Secret>()) else {
            return Ok(Action::Done);
        };
        let Some(mut map) = maps.lookup(vocabulary.namespace_public, NAME)? else { return Ok(Action::Done) };
        let system = vocabulary.namespace_system;
        let snapshot = cx.client().snapshot(secrets.resource());
        let names = snapshot.in_namespace(system).map(|secret| &secret.key().name);
        let tokens = names.filter(|name| may_sign(name));
        // A secret that cannot be read is left out.
        let mut secrets: Vec<Secret> =
            tokens.filter_map(|name| secrets.lookup(system, name).ok().flatten()).collect();
        secrets.retain(|secret| is_token(secret, vocabulary));
        let now = cx.client().core().clock().now();
        let mut next = None;
        secrets.retain(|secret| match expiration(secret, now) {
            Expiration::Never => true,
            Expiration::Past => false,
            Expiration::In(left) => {
                next = Some(next.map_or(left, |next: Duration| next.min(left)));
                true
            }
        });
        let tokens: Vec<(&str, &str)> = secrets.iter().filter_map(signing).collect();
        if let Some(signed) = sign(&map.data, &tokens) {
            map.data = signed;
            match maps.update(&map).await {
                // That change brings the key again.
                Err(ApiError::Conflict { .. } | ApiError::NotFound { .. }) => {}
                updated => drop(updated?),
            }
        }
        Ok(next.map_or(Action::Done, Action::Again))
    }
}

/// The data with the signatures of these tokens, each an id and a secret half, and with no others. `None`
/// where that is what it has, or where there is nothing to sign.
fn sign(data: &BTreeMap<String, String>, tokens: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
    let content = data.get(SIGNED)?;
    let mut signed = data.clone();
    signed.retain(|key, _| !key.starts_with(SIGNATURE_PREFIX));
    for (id, secret) in tokens {
        signed.insert(format!("{SIGNATURE_PREFIX}{id}"), signature(content, id, secret));
    }
    (signed != *data).then_some(signed)
}

fn signature(content: &str, id: &str, secret: &str) -> String {
    let header = URL_SAFE_NO_PAD.encode(json!({"alg": "HS256", "kid": id}).to_string());
    let content = URL_SAFE_NO_PAD.encode(content);
    let key = hmac::Key::new(hmac::HMAC_SHA256, format!("{id}.{secret}").as_bytes());
    let mac = hmac::sign(&key, format!("{header}.{content}").as_bytes());
    format!("{header}..{}", URL_SAFE_NO_PAD.encode(mac))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn each_token_signs_and_other_signatures_go() {
        let (old, other) = ("jws-kubeconfig-oldold", "other");
        let signed =
            sign(&data(&[("kubeconfig", "k"), (old, "x"), (other, "y")]), &[("abc123", "s")]).unwrap();
        let keys: Vec<&str> = signed.keys().map(String::as_str).collect();
        assert_eq!(keys, ["jws-kubeconfig-abc123", "kubeconfig", "other"]);
        assert_eq!(sign(&signed, &[("abc123", "s")]), None, "it is signed");
        let again = sign(&signed, &[("abc123", "t")]).unwrap();
        assert_ne!(again["jws-kubeconfig-abc123"], signed["jws-kubeconfig-abc123"]);
        let none = sign(&signed, &[]).unwrap();
        assert_eq!(none.len(), 2);
        assert_eq!(sign(&data(&[(old, "x")]), &[("abc123", "s")]), None, "there is nothing to sign");
    }
}
