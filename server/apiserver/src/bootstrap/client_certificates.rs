//! The certificates that the server itself shows to others, and when they end.

use std::{
    fs,
    path::{Path, PathBuf},
};

use orch_auth::authorization_file;
use orch_outbound::kubeconfig;
use orch_runtime::vocabulary::Vocabulary;

use crate::{
    bootstrap::certificate_ends::{End, first_end},
    config::Config,
};

/// To whom certificates are shown, as the metric and the log call them.
const ETCD: &str = "etcd";
const TOKEN_WEBHOOK: &str = "authentication-webhook";
const AUTHORIZATION_WEBHOOK: &str = "authorization-webhook";
const AUDIT_WEBHOOK: &str = "audit-webhook";

/// What the configuration says about them.
pub struct ClientCertificates {
    /// Those that were read at the start, and are shown until the end.
    ends: Vec<End>,
    /// The file of authorizers, which the server follows.
    authorizers: Option<PathBuf>,
    vocabulary: &'static Vocabulary,
}

impl ClientCertificates {
    /// Reads them as they are now. A file that is wrong is refused by whoever uses it.
    pub fn new(config: &Config) -> Self {
        let etcd = config.storage.etcd.as_ref().and_then(|etcd| etcd.identity.as_ref());
        let etcd = etcd.and_then(|(certificate, _)| end(ETCD, &fs::read(certificate).ok()?));
        let kubeconfigs = [
            (TOKEN_WEBHOOK, config.authentication.token_webhook.as_ref().map(|webhook| &webhook.kubeconfig)),
            (AUTHORIZATION_WEBHOOK, config.authorization.webhook.as_ref().map(|webhook| &webhook.kubeconfig)),
            (AUDIT_WEBHOOK, config.audit.webhook.as_ref().map(|(kubeconfig, _)| kubeconfig)),
        ];
        let webhooks = kubeconfigs.into_iter().filter_map(|(name, file)| of_kubeconfig(name, file?));
        ClientCertificates {
            ends: etcd.into_iter().chain(webhooks).collect(),
            authorizers: config.authorization.file.clone(),
            vocabulary: config.vocabulary,
        }
    }

    /// When those end that are shown now.
    pub fn ends(&self) -> Vec<End> {
        let read = |file: &PathBuf| authorization_file::read(file, self.vocabulary).ok();
        let authorizers = self.authorizers.as_ref().and_then(read).unwrap_or_default();
        let kubeconfigs = authorizers.iter().flat_map(|authorizer| &authorizer.files);
        let followed = kubeconfigs.filter_map(|file| of_kubeconfig(AUTHORIZATION_WEBHOOK, file));
        self.ends.iter().copied().chain(followed).collect()
    }
}

fn of_kubeconfig(name: &'static str, file: &Path) -> Option<End> {
    end(name, &kubeconfig::client_certificate(file).ok()??)
}

fn end(certificate: &'static str, pem: &[u8]) -> Option<End> {
    first_end(pem).map(|time| End { certificate, time })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use base64::{Engine, engine::general_purpose::STANDARD};
    use orch_meta::VOCABULARIES;
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    #[test]
    fn all_that_is_shown_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = directory.path().join(name);
            fs::write(&path, content).unwrap();
            path.display().to_string()
        };
        let key = KeyPair::generate().unwrap();
        let time = |day: u64| UNIX_EPOCH + Duration::from_hours(24 * day);
        let certificate = |day: u64| {
            let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_after = time(day).into();
            params.self_signed(&key).unwrap().pem()
        };
        let etcd = file("etcd.crt", &certificate(20_001));
        let key_file = file("client.key", &key.serialize_pem());
        let kubeconfig = |name: &str, day| {
            let data = STANDARD.encode(certificate(day));
            let user = format!("{{client-certificate-data: {data}, client-key: client.key}}");
            let text = format!(
                "contexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
                 clusters: [{{name: k, cluster: {{server: 'https://a.example', \
                 certificate-authority-data: {data}}}}}]\n\
                 users: [{{name: u, user: {user}}}]\n"
            );
            file(name, &text)
        };
        let authorizers = file(
            "authorizers.yaml",
            &format!(
                "apiVersion: apiserver.config.orch.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n\
                 - type: Webhook\n  name: policy\n  webhook: {{timeout: 3s, subjectAccessReviewVersion: v1, \
                 matchConditionSubjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {{type: \
                 KubeConfigFile, kubeConfigFile: {}}}}}\n",
                kubeconfig("policy.kubeconfig", 20_004)
            ),
        );
        let config = Config::from_flags(
            [
                "--storage=etcd".to_owned(),
                "--etcd-servers=https://127.0.0.1:1".to_owned(),
                format!("--etcd-certfile={etcd}"),
                format!("--etcd-keyfile={key_file}"),
                format!("--authentication-token-webhook-config-file={}", kubeconfig("tokens", 20_002)),
                format!("--audit-webhook-config-file={}", kubeconfig("audit", 20_003)),
                format!("--authorization-config={authorizers}"),
            ],
            VOCABULARIES,
        );
        let known = ClientCertificates::new(&config.unwrap()).ends();
        let expected = [
            (ETCD, 20_001),
            (TOKEN_WEBHOOK, 20_002),
            (AUDIT_WEBHOOK, 20_003),
            (AUTHORIZATION_WEBHOOK, 20_004),
        ];
        assert_eq!(known, expected.map(|(certificate, day)| End { certificate, time: time(day) }));
    }
}
