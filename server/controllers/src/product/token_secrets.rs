//! Fills secrets that ask for a token of a service account, and deletes those whose account is gone. An
//! account that lists a secret which is gone loses that entry.
//!
//! Such a secret names its account by an annotation. It gets the token, the account's namespace and the
//! authorities that clients of this server trust. The token has no end: it is valid while the secret holds it
//! (`orch_kinds::token_secret`).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use futures_util::future::BoxFuture;
use orch_api::core::v1::{Secret, ServiceAccount};
use orch_auth::service_account::{BoundObject, TokenIssuer};
use orch_kinds::token_secret::{AUTHORITY, AccountName, NAMESPACE, TOKEN, account_of, annotations};
use orch_registry::{
    catalog::Catalog,
    client::Client,
    error::{ApiError, Result},
    options::DeletionOptions,
    stored,
};
use orch_runtime::{object::Kind, scalar::ByteString};
use orch_storage::{Key, StoreError};

use super::trust::{FollowingTrust, Trust};
use crate::{
    account::Account,
    controller::{Action, AnyController, Context},
    key::ObjectKey,
    source::KeySource,
    trigger::{Changed, Trigger},
};

/// Who signs the tokens; set before controllers run.
pub type Signer = Arc<OnceLock<Arc<TokenIssuer>>>;

/// See the module.
pub(super) struct TokenSecrets {
    signer: Signer,
    trust: Trust,
    known: Arc<Mutex<Known>>,
}

/// Which secrets name which accounts.
#[derive(Default)]
struct Known {
    secrets: BTreeMap<ObjectKey, BTreeSet<Arc<str>>>,
    accounts: BTreeMap<ObjectKey, ObjectKey>,
}

impl TokenSecrets {
    /// With tokens of this signer and these authorities.
    pub(super) fn new(signer: Signer, trust: Trust) -> Self {
        TokenSecrets { signer, trust, known: Arc::default() }
    }

    async fn settle(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let secrets = cx.api::<Secret>()?;
        let vocabulary = secrets.resource().vocabulary;
        let snapshot = cx.client().snapshot(secrets.resource());
        let [name, _] = annotations(vocabulary);
        let object = snapshot.get(&key.namespace, &key.name);
        // Most secrets hold something else, and are not read.
        let may_be_one = object.is_some_and(|object| stored::may_have_field(object, &name));
        let is_gone = object.is_none();
        drop(snapshot);
        let secret = if may_be_one { secrets.lookup(&key.namespace, &key.name)? } else { None };
        let named = secret.as_ref().and_then(|secret| account_of(secret, vocabulary));
        let before = if is_gone { lock(&self.known).accounts.get(key).cloned() } else { None };
        if let Some(account) = before {
            forget(&account, &key.name, cx).await?;
        }
        // Before the account is looked up: one that goes from now on makes this run again.
        lock(&self.known).note(key, named.as_ref());
        let (Some(secret), Some(named)) = (secret, named) else { return Ok(Action::Done) };
        if secret.metadata.deletion_timestamp.is_some() {
            return Ok(Action::Done);
        }
        let Some(account) = account(cx, &key.namespace, &named)? else {
            let metadata = &secret.metadata;
            let options = DeletionOptions {
                uid: Some(metadata.uid.clone()),
                resource_version: Some(metadata.resource_version.clone()),
                ..DeletionOptions::default()
            };
            return lost_race_is_fine(secrets.delete(&key.namespace, &key.name, options).await);
        };
        match self.filled(secret, &account, cx)? {
            Some(filled) => lost_race_is_fine(secrets.update(&filled).await),
            None => Ok(Action::Done),
        }
    }

    /// The secret with what it lacks; `None` where it lacks nothing.
    fn filled(&self, mut secret: Secret, account: &BoundObject, cx: &Context) -> Result<Option<Secret>> {
        let before = (secret.data.clone(), secret.metadata.annotations.clone());
        let Secret { metadata, data, .. } = &mut secret;
        let lacks = |data: &BTreeMap<String, ByteString>, key: &str| {
            data.get(key).is_none_or(|value| value.0.is_empty())
        };
        if let Some(authority) = self.trust.borrow().as_ref() {
            data.insert(AUTHORITY.to_owned(), ByteString(authority.clone().into_bytes()));
        }
        if lacks(data, NAMESPACE) {
            data.insert(NAMESPACE.to_owned(), ByteString(metadata.namespace.clone().into_bytes()));
        }
        if lacks(data, TOKEN) {
            let signer = self.signer.get();
            let signer = signer.ok_or_else(|| ApiError::internal("no key signs tokens", "it is not set"))?;
            let token = signer
                .issue_for_secret(&metadata.namespace, account, &metadata.name)
                .map_err(|error| ApiError::internal("the token cannot be made", error))?;
            data.insert(TOKEN.to_owned(), ByteString(token.into_bytes()));
        }
        let [_, uid] = annotations(cx.client().core().vocabulary());
        metadata.annotations.insert(uid, account.uid.clone());
        let is_filled = before == (data.clone(), metadata.annotations.clone());
        Ok((!is_filled).then_some(secret))
    }
}

impl AnyController for TokenSecrets {
    fn name(&self) -> &'static str {
        "serviceaccount-token-controller"
    }

    /// In the reference no service account can do this: it makes what they authenticate with.
    fn account(&self) -> Account {
        Account::Manager
    }

    fn is_served(&self, catalog: &Catalog) -> bool {
        [Secret::RESOURCE, ServiceAccount::RESOURCE].into_iter().all(|def| catalog.served(def).is_some())
    }

    fn begin(&self, client: &Client) -> Result<Box<dyn KeySource>, StoreError> {
        let secrets = client.core().catalog().served(Secret::RESOURCE);
        let secrets = secrets.expect("a controller runs where its kind is served");
        let known = Arc::clone(&self.known);
        // An account that is made anew is another one, so its coming counts as well.
        let of_account = move |change: &Changed<'_>| {
            if change.before.is_some() && change.after.is_some() {
                return Vec::new();
            }
            let Some(account) = change.after.or(change.before) else { return Vec::new() };
            let account = ObjectKey::from(account.key());
            let known = lock(&known);
            let secrets = known.secrets.get(&account).into_iter().flatten();
            secrets.map(|secret| ObjectKey::new(account.namespace.clone(), secret.clone())).collect()
        };
        let triggers = vec![Trigger::new(ServiceAccount::RESOURCE, of_account)];
        Ok(Box::new(FollowingTrust::begin(secrets, triggers, &self.trust, client)?))
    }

    fn reconcile<'a>(&'a self, key: &'a Key, cx: &'a Context) -> BoxFuture<'a, Result<Action>> {
        Box::pin(async move { self.settle(&ObjectKey::from(key), cx).await })
    }
}

/// The account that a secret names, if it is that one.
fn account(cx: &Context, namespace: &str, named: &AccountName) -> Result<Option<BoundObject>> {
    let found = cx.api::<ServiceAccount>()?.lookup(namespace, &named.name)?;
    let uid = found.map(|account| account.metadata.uid);
    let is_it = |uid: &String| named.uid.is_empty() || named.uid == *uid;
    Ok(uid.filter(is_it).map(|uid| BoundObject { name: named.name.clone(), uid }))
}

/// Takes a secret out of the list of an account.
async fn forget(account: &ObjectKey, secret: &str, cx: &Context) -> Result<()> {
    let accounts = cx.api::<ServiceAccount>()?;
    let Some(mut account) = accounts.lookup(&account.namespace, &account.name)? else { return Ok(()) };
    let listed = account.secrets.len();
    account.secrets.retain(|entry| entry.name != secret);
    if account.secrets.len() == listed {
        return Ok(());
    }
    match accounts.update(&account).await {
        Ok(_) | Err(ApiError::NotFound { .. }) => Ok(()),
        // After a conflict the key comes again.
        Err(error) => Err(error),
    }
}

impl Known {
    /// Remembers which account a secret names, if it names one.
    fn note(&mut self, secret: &ObjectKey, account: Option<&AccountName>) {
        let account = account.map(|account| ObjectKey::new(secret.namespace.clone(), account.name.as_str()));
        let before = match &account {
            Some(account) => self.accounts.insert(secret.clone(), account.clone()),
            None => self.accounts.remove(secret),
        };
        if let Some(before) = before.filter(|before| Some(before) != account.as_ref())
            && let Some(secrets) = self.secrets.get_mut(&before)
        {
            secrets.remove(&secret.name);
            if secrets.is_empty() {
                self.secrets.remove(&before);
            }
        }
        if let Some(account) = account {
            self.secrets.entry(account).or_default().insert(Arc::clone(&secret.name));
        }
    }
}

/// Somebody else has changed or deleted the secret: that change brings the key again.
fn lost_race_is_fine<T>(result: Result<T>) -> Result<Action> {
    match result {
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(Action::Done),
        Err(error) => Err(error),
    }
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}
