//! What programs in a namespace get: the authority that the server is trusted by, and tokens in secrets.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use orch_auth::service_account::{Keys, SigningKey, TokenConfig, TokenIssuer};
use orch_kinds::token_secret::account_of;
use orch_runtime::object::{Kind, typed_from_tree};
use rustls_pki_types::PrivateKeyDer;

use super::*;

const MAP: (&str, &str) = (NAMESPACE, orch_api::ORCH.root_ca_config_map);
const ACCOUNT: (&str, &str) = (NAMESPACE, "robot");

/// All controllers, and the authority that they follow.
pub(super) fn all_of(authority: &str) -> (Vec<Box<dyn AnyController>>, watch::Sender<Option<String>>) {
    let (sender, trust) = watch::channel(Some(authority.to_owned()));
    let signer = Signer::default();
    let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let key = PrivateKeyDer::Pkcs8(key.to_pkcs8v1().unwrap().as_ref().to_vec().into());
    let key = SigningKey::from_der(&key).unwrap();
    let issuer = TokenIssuer::new(Keys::new(key, Vec::new()), &TokenConfig::default(), &[], &orch_api::ORCH);
    signer.get_or_init(|| Arc::new(issuer));
    let settings = Settings {
        own_service: own_service(6443),
        trust,
        signer,
        event_ttl: Duration::from_mins(1),
        vocabulary: &orch_api::ORCH,
    };
    (controllers(settings), sender)
}

/// The two that follow it.
fn controllers_of(authority: &str) -> (Vec<Box<dyn AnyController>>, watch::Sender<Option<String>>) {
    let names = ["root-ca-certificate-publisher-controller", "serviceaccount-token-controller"];
    let (mut all, sender) = all_of(authority);
    all.retain(|controller| names.contains(&controller.name()));
    (all, sender)
}

fn data<T: Kind>(fixture: &Fixture, (namespace, name): (&str, &str)) -> Value {
    let found = fixture.client.get(fixture.resource::<T>(), namespace, name);
    found.map_or(Value::Null, |current| current.tree["data"].clone())
}

pub(super) fn token_secret(name: &str, account: &str) -> Value {
    let metadata = json!({
        "name": name, "namespace": NAMESPACE, "annotations": {"orch.io/service-account.name": account},
    });
    json!({"metadata": metadata, "type": "orch.io/service-account-token"})
}

pub(super) fn robot() -> Value {
    json!({"metadata": {"name": ACCOUNT.1, "namespace": NAMESPACE}})
}

#[tokio::test(start_paused = true)]
async fn each_namespace_has_the_authority_as_it_is_now() {
    let fixture = Fixture::new().await;
    let (controllers, authority) = controllers_of("one");
    let (running, _) = fixture.start_under_roles(controllers).await;
    fixture.create::<Namespace>(json!({"metadata": {"name": "other"}})).await;
    fixture.settle().await;
    for namespace in [NAMESPACE, "other", "default", orch_api::ORCH.namespace_system] {
        assert_eq!(data::<ConfigMap>(&fixture, (namespace, MAP.1)), json!({"ca.crt": "one"}), "{namespace}");
    }
    fixture.delete::<ConfigMap>(MAP).await;
    fixture.settle().await;
    assert_eq!(data::<ConfigMap>(&fixture, MAP), json!({"ca.crt": "one"}), "it is made again");
    let forge = |map: &mut Tree| {
        map["data"] = json!({"ca.crt": "forged", "more": "x"});
        map["metadata"]["annotations"] = json!({"own": "x"});
    };
    fixture.change::<ConfigMap>(MAP, "", forge).await;
    fixture.settle().await;
    assert_eq!(data::<ConfigMap>(&fixture, MAP), json!({"ca.crt": "one"}), "it is corrected");
    let map = fixture.client.get(fixture.resource::<ConfigMap>(), MAP.0, MAP.1).unwrap().tree;
    let annotations = map["metadata"]["annotations"].as_object().unwrap();
    assert_eq!(annotations.keys().collect::<Vec<_>>(), ["orch.io/description", "own"]);

    authority.send_replace(Some("two".to_owned()));
    fixture.settle().await;
    for namespace in [NAMESPACE, "other"] {
        assert_eq!(data::<ConfigMap>(&fixture, (namespace, MAP.1)), json!({"ca.crt": "two"}), "{namespace}");
    }
    let before = fixture.client.core().storage().current_revision();
    sleep(Duration::from_hours(24)).await;
    assert_eq!(fixture.client.core().storage().current_revision(), before, "nothing is left to do");
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_secret_gets_the_token_of_its_account_and_goes_with_it() {
    let fixture = Fixture::new().await;
    let (controllers, authority) = controllers_of("one");
    let (running, _) = fixture.start_under_roles(controllers).await;
    fixture.create::<ServiceAccount>(robot()).await;
    fixture.create::<Secret>(token_secret("s", "robot")).await;
    fixture.create::<Secret>(json!({"metadata": {"name": "plain", "namespace": NAMESPACE}})).await;
    fixture.settle().await;
    let secret = || {
        let secrets = fixture.resource::<Secret>();
        let tree = fixture.client.get(secrets, NAMESPACE, "s").unwrap().tree;
        typed_from_tree::<Secret>(tree).unwrap()
    };
    let filled = secret();
    let uid = {
        let account = fixture.client.get(fixture.resource::<ServiceAccount>(), ACCOUNT.0, ACCOUNT.1).unwrap();
        Meta::of(&account.tree).uid().to_owned()
    };
    assert_eq!(account_of(&filled, &orch_api::ORCH).unwrap().uid, uid);
    assert_eq!(
        (&*filled.data["ca.crt"].0, &*filled.data["namespace"].0),
        (&b"one"[..], NAMESPACE.as_bytes())
    );
    assert_eq!(filled.data["token"].0.split(|byte| *byte == b'.').count(), 3);
    assert_eq!(data::<Secret>(&fixture, (NAMESPACE, "plain")), Value::Null);

    authority.send_replace(Some("two".to_owned()));
    fixture.settle().await;
    assert_eq!(&*secret().data["ca.crt"].0, b"two");
    assert_eq!(secret().data["token"], filled.data["token"], "the token stays");
    fixture.change::<Secret>((NAMESPACE, "s"), "", |secret| secret["data"] = json!({})).await;
    fixture.settle().await;
    assert!(secret().data.contains_key("token"), "it is filled again");

    // A list that names a secret forgets it with the secret.
    fixture.create::<Secret>(token_secret("listed", "robot")).await;
    let list = |account: &mut Tree| account["secrets"] = json!([{"name": "s"}, {"name": "listed"}]);
    fixture.change::<ServiceAccount>(ACCOUNT, "", list).await;
    fixture.settle().await;
    fixture.delete::<Secret>((NAMESPACE, "listed")).await;
    fixture.settle().await;
    let account = fixture.client.get(fixture.resource::<ServiceAccount>(), ACCOUNT.0, ACCOUNT.1).unwrap();
    assert_eq!(account.tree["secrets"], json!([{"name": "s"}]));

    // Another account of the same name is another one.
    fixture.delete::<ServiceAccount>(ACCOUNT).await;
    fixture.settle().await;
    assert!(!fixture.exists::<Secret>((NAMESPACE, "s")));
    fixture.create::<ServiceAccount>(robot()).await;
    let mut old = token_secret("old", "robot");
    old["metadata"]["annotations"]["orch.io/service-account.uid"] = uid.into();
    fixture.create::<Secret>(old).await;
    fixture.create::<Secret>(token_secret("lost", "nobody")).await;
    fixture.settle().await;
    for (name, exists) in [("old", false), ("lost", false), ("plain", true)] {
        assert_eq!(fixture.exists::<Secret>((NAMESPACE, name)), exists, "{name}");
    }
    fixture.finish(running).await;
}
