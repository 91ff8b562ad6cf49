//! The certificates that the server itself shows to others, and when they end.

use std::path::{Path, PathBuf};

use orch_auth::authorization_file;
use orch_config::Config;
use orch_outbound::kubeconfig;
use orch_runtime::vocabulary::Vocabulary;

use crate::bootstrap::certificate_ends::{End, first_end};

/// To whom certificates are shown, as the metric and the log call them.
const ETCD: &str = "etcd";
const TOKEN_WEBHOOK: &str = "authentication-webhook";
const AUTHORIZATION_WEBHOOK: &str = "authorization-webhook";
const AUDIT_WEBHOOK: &str = "audit-webhook";
/// The authorities that vouch for etcd. A server that outlives them does not reach it.
const ETCD_AUTHORITIES: &str = "etcd-ca";

/// Where they are. All of these files are read again when they are used after a change.
pub struct ClientCertificates {
    /// Files of certificates.
    files: Vec<(&'static str, PathBuf)>,
    /// Files of webhooks, which name theirs.
    kubeconfigs: Vec<(&'static str, PathBuf)>,
    /// The file of authorizers, which names more webhooks.
    authorizers: Option<PathBuf>,
    vocabulary: &'static Vocabulary,
}

impl ClientCertificates {
    /// As the configuration says.
    pub fn new(config: &Config) -> Self {
        let etcd = config.storage.etcd.as_ref();
        let shown = etcd.and_then(|etcd| etcd.identity.as_ref()).map(|(certificate, _)| certificate);
        let authorities = etcd.and_then(|etcd| etcd.authorities.as_ref());
        let token_webhook = config.authentication.token_webhook.as_ref().map(|webhook| &webhook.kubeconfig);
        let authorizer = config.authorization.webhook.as_ref().map(|webhook| &webhook.kubeconfig);
        let audit = config.audit.webhook.as_ref().map(|(kubeconfig, _)| kubeconfig);
        ClientCertificates {
            files: given([(ETCD, shown), (ETCD_AUTHORITIES, authorities)]),
            kubeconfigs: given([
                (TOKEN_WEBHOOK, token_webhook),
                (AUTHORIZATION_WEBHOOK, authorizer),
                (AUDIT_WEBHOOK, audit),
            ]),
            authorizers: config.authorization.file.clone(),
            vocabulary: config.vocabulary,
        }
    }

    /// When the certificates end that are shown now. A file with errors is reported where it is used.
    pub fn ends(&self) -> Vec<End> {
        let read = |file: &PathBuf| authorization_file::read(file, self.vocabulary).ok();
        let authorizers = self.authorizers.as_ref().and_then(read).unwrap_or_default();
        let named = authorizers.iter().flat_map(|authorizer| &authorizer.files);
        let named = named.map(|file| (AUTHORIZATION_WEBHOOK, file));
        let kubeconfigs = self.kubeconfigs.iter().map(|(name, file)| (*name, file)).chain(named);
        let of_webhooks = kubeconfigs.filter_map(|(name, file)| of_kubeconfig(name, file));
        let files = self.files.iter().filter_map(|(name, file)| end(name, &orch_settings::read(file).ok()?));
        files.chain(of_webhooks).collect()
    }
}

fn given<const N: usize>(files: [(&'static str, Option<&PathBuf>); N]) -> Vec<(&'static str, PathBuf)> {
    files.into_iter().filter_map(|(name, file)| Some((name, file?.clone()))).collect()
}

fn of_kubeconfig(name: &'static str, file: &Path) -> Option<End> {
    end(name, &kubeconfig::client_certificate(file).ok()??)
}

fn end(certificate: &'static str, pem: &[u8]) -> Option<End> {
    first_end(pem).map(|time| End { certificate, time })
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        time::{Duration, UNIX_EPOCH},
    };

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
        let authorities = file("ca.crt", &certificate(20_006));
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
                format!("--etcd-cafile={authorities}"),
                format!("--authentication-token-webhook-config-file={}", kubeconfig("tokens", 20_002)),
                format!("--audit-webhook-config-file={}", kubeconfig("audit", 20_003)),
                format!("--authorization-config={authorizers}"),
            ],
            VOCABULARIES,
        );
        let certificates = ClientCertificates::new(&config.unwrap());
        let known = certificates.ends();
        let expected = [
            (ETCD, 20_001),
            (ETCD_AUTHORITIES, 20_006),
            (TOKEN_WEBHOOK, 20_002),
            (AUDIT_WEBHOOK, 20_003),
            (AUTHORIZATION_WEBHOOK, 20_004),
        ];
        assert_eq!(known, expected.map(|(certificate, day)| End { certificate, time: time(day) }));
        file("etcd.crt", &certificate(20_005));
        kubeconfig("audit", 20_007);
        let known = certificates.ends();
        for end in [(ETCD, 20_005), (AUDIT_WEBHOOK, 20_007)] {
            assert!(known.contains(&End { certificate: end.0, time: time(end.1) }), "{known:?}");
        }
    }
}
