//! Which server a client talks to and who it is: from files, as other clients find them, to a client.

use std::{env, path::PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use kube::{
    Client, Config,
    config::{AuthInfo, Cluster, ExecAuthCluster},
};
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::{
    certificate_files::{CertificateFiles, Half},
    error::Error,
    exec,
    kubeconfig::{self, Choice, unusable},
    proxy,
    service::Authenticated,
    source::Source,
    token_file::TokenFile,
    transport::Transports,
};

/// Where a client takes its configuration from. Without further words: the files of `KUBECONFIG`, or else
/// `~/.kube/config`, and the context that is current there; where there is no such file, the service account
/// of the pod that the program runs in.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    files: Vec<PathBuf>,
    choice: Choice,
}

impl Settings {
    /// The usual files, and their current context.
    pub fn new() -> Self {
        Settings::default()
    }

    /// Reads this file instead of the usual ones. It must exist. Called again, the files are merged; the
    /// first one that says something counts.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// Chooses this context instead of the current one.
    pub fn context(mut self, name: impl Into<String>) -> Self {
        self.choice.context = Some(name.into());
        self
    }

    /// Talks to this cluster instead of the context's.
    pub fn cluster(mut self, name: impl Into<String>) -> Self {
        self.choice.cluster = Some(name.into());
        self
    }

    /// Is this user instead of the context's.
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.choice.user = Some(name.into());
        self
    }

    /// A client. It is made within a runtime of tokio; no request is sent, and no plugin runs before the
    /// first one.
    ///
    /// # Errors
    /// What is wrong with the files.
    pub fn client(&self) -> Result<Client, Error> {
        let (config, source) = self.read()?;
        let namespace = config.default_namespace.clone();
        let wrong = |error: kube::Error| Error::Kubeconfig(error.to_string());
        match source {
            None => Client::try_from(config).map_err(wrong),
            Some(source) => {
                let transports = Transports::new(config).map_err(wrong)?;
                Ok(Client::new(Authenticated::new(transports, source), namespace))
            }
        }
    }

    /// What is configured, and where credentials come from that are not in it.
    fn read(&self) -> Result<(Config, Option<Source>), Error> {
        let (files, must_exist) = if self.files.is_empty() {
            (kubeconfig::usual_files(), false)
        } else {
            (self.files.clone(), true)
        };
        let Some(merged) = kubeconfig::read(&files, must_exist)? else {
            let mut config = Config::incluster().map_err(|error| Error::Missing(error.to_string()))?;
            let token = config.auth_info.token_file.take();
            let source = token.map(|path| Source::TokenFile(TokenFile::new(path.into(), None)));
            return Ok((config, source));
        };
        let (chosen, cluster) = kubeconfig::choose(merged, &self.choice)?;
        let mut config = Config::try_from(chosen).map_err(unusable)?;
        if !matches!(config.cluster_url.scheme_str(), Some("http" | "https")) {
            return Err(Error::Kubeconfig(
                "the URL of the server begins with neither https:// nor http://".into(),
            ));
        }
        config.proxy_url =
            proxy::proxy(cluster.proxy_url.as_deref(), &config.cluster_url, |name| env::var(name).ok())?;
        let source = take_source(&mut config, &cluster)?;
        Ok((config, source))
    }
}

/// Takes out of the configuration what this crate does itself: token files, which count more than a token
/// beside them, and plugins, which count less than what is written down.
fn take_source(config: &mut Config, cluster: &Cluster) -> Result<Option<Source>, Error> {
    let auth = &mut config.auth_info;
    let plugin = auth.exec.take();
    if plugin.is_some() && auth.auth_provider.is_some() {
        let why = "a user has both exec and auth-provider: it must be one of them";
        return Err(Error::Kubeconfig(why.to_owned()));
    }
    if let Some(path) = auth.token_file.take().filter(|path| !path.is_empty()) {
        let instead = auth.token.take().map(|token| token.expose_secret().to_owned());
        return Ok(Some(Source::TokenFile(TokenFile::new(path.into(), instead))));
    }
    let is_written_down = auth.token.is_some() || auth.username.is_some();
    let Some(plugin) = plugin.filter(|_| !is_written_down) else { return Ok(certificate_files(auth)) };
    let cache = exec::plugin(&plugin, |definition| cluster_info(cluster, &definition.extension))?;
    Ok(Some(Source::Plugin(cache)))
}

/// The client certificate, where it or its key is in a file. What stands beside it, such as a token, is sent
/// as well.
fn certificate_files(auth: &AuthInfo) -> Option<Source> {
    let given = |path: &Option<String>| path.clone().filter(|path| !path.is_empty());
    let (certificate, key) = (given(&auth.client_certificate), given(&auth.client_key));
    let key_data = auth.client_key_data.as_ref().map(ExposeSecret::expose_secret);
    // What cannot be read was reported when the first connections were made.
    let half = |data: Option<&str>, path: Option<String>| match data.filter(|data| !data.is_empty()) {
        Some(data) => String::from_utf8(STANDARD.decode(data).ok()?).ok().map(Half::Text),
        None => path.map(|path| Half::File(path.into())),
    };
    let certificate = half(auth.client_certificate_data.as_deref(), certificate)?;
    let key = half(key_data, key)?;
    let is_fixed = matches!((&certificate, &key), (Half::Text(_), Half::Text(_)));
    (!is_fixed).then(|| Source::CertificateFiles(CertificateFiles::new(certificate, key)))
}

/// What a plugin is told about the server: its entry, with its authority as data, and as `config` the
/// extension of this name.
fn cluster_info(cluster: &Cluster, extension: &str) -> Result<Value, Error> {
    let mut info = ExecAuthCluster::try_from(cluster).map_err(unusable)?;
    let mut extensions = cluster.extensions.iter().flatten();
    info.config = extensions.find(|named| named.name == extension).map(|named| named.extension.clone());
    Ok(serde_json::to_value(info).expect("texts and JSON are JSON"))
}
