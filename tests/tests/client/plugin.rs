//! Plugins for tests: shell scripts that count their runs, and kubeconfig files that name them.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use kube::Client;
use orch_client::Settings;
use orch_tests::TestServer;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::suffix;

/// A plugin in a directory of its own.
pub struct Plugin {
    directory: TempDir,
    api_version: String,
}

impl Plugin {
    /// A plugin that counts its run and then does this. The script finds its directory in `$DIR`, the number
    /// of its run in `$RUN`, and can call `status <JSON>` to answer.
    pub fn new(server: &TestServer, version: &str, script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let api_version = format!("client.authentication.{}/{version}", suffix(server));
        let place = directory.path().display();
        let text = format!(
            r#"#!/bin/sh
DIR={place}
echo >> "$DIR/runs"
RUN=$(wc -l < "$DIR/runs" | tr -d ' ')
status() {{ printf '{{"apiVersion": "{api_version}", "kind": "ExecCredential", "status": %s}}' "$1"; }}
{script}
"#
        );
        let plugin = Plugin { directory, api_version };
        fs::write(plugin.path("plugin"), text).unwrap();
        fs::set_permissions(plugin.path("plugin"), fs::Permissions::from_mode(0o755)).unwrap();
        plugin
    }

    /// A file of its directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// How often it ran.
    pub fn runs(&self) -> usize {
        fs::read_to_string(self.path("runs")).unwrap_or_default().lines().count()
    }

    /// A kubeconfig file whose user has this plugin, with more in its entry.
    pub fn kubeconfig(&self, server: &TestServer, more: &Value) -> PathBuf {
        let mut exec = json!({
            "apiVersion": self.api_version,
            // As a path from the file.
            "command": "./plugin",
            "interactiveMode": "Never",
        });
        exec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let path = self.path("config");
        write_kubeconfig(&path, server, &json!({}), &json!({"exec": exec}));
        path
    }

    /// A client with this plugin.
    pub fn client(&self, server: &TestServer) -> Client {
        Settings::new().file(self.kubeconfig(server, &json!({}))).client().unwrap()
    }
}

/// A kubeconfig file for a server and a user, with more in the entry of the cluster.
pub fn write_kubeconfig(path: &Path, server: &TestServer, cluster: &Value, user: &Value) {
    let mut entry = json!({
        "server": server.url(),
        "certificate-authority-data": BASE64_STANDARD.encode(&server.kubeconfig().certificate_authority),
    });
    entry.as_object_mut().unwrap().extend(cluster.as_object().unwrap().clone());
    let file = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": entry}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    });
    fs::write(path, file.to_string()).unwrap();
}
