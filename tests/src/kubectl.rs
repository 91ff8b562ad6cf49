//! The command line tool that people already have, as the administrator of a test's server.

use std::{io::ErrorKind, process::Stdio, time::Duration};

use tokio::process::Command;

use crate::{TestServer, skip::skipped};

/// How long one command may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The tool as the administrator of one server.
pub struct Kubectl<'s> {
    /// The server.
    pub server: &'s TestServer,
}

impl Kubectl<'_> {
    /// The command for a line whose words are parted by single spaces.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new("kubectl");
        command
            .args(line.split(' '))
            .env("KUBECONFIG", self.server.kubeconfig_path())
            // Its caches go away with the server.
            .env("HOME", self.server.scratch_dir())
            .current_dir(self.server.scratch_dir())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Whether a command succeeds, and what it prints.
    pub async fn output(&self, line: &str) -> (bool, String) {
        let output = tokio::time::timeout(PATIENCE, self.command(line).output()).await;
        let output = output.unwrap_or_else(|_| panic!("kubectl {line} hangs")).expect("kubectl starts");
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    }

    /// Runs a command that succeeds, without a warning: what it prints.
    pub async fn run(&self, line: &str) -> String {
        let (success, text) = self.output(line).await;
        assert!(success, "kubectl {line}\n{text}");
        assert!(!text.contains("Warning:"), "kubectl {line}\n{text}");
        text
    }

    /// Runs a command that prints exactly this.
    pub async fn prints(&self, line: &str, expected: &str) {
        assert_eq!(self.run(line).await.trim_end(), expected, "kubectl {line}");
    }

    /// Runs a command that prints all of these.
    pub async fn shows(&self, line: &str, expected: &[&str]) {
        let text = self.run(line).await;
        assert_all(line, &text, expected);
    }

    /// Runs a command that fails with all of these words.
    pub async fn fails(&self, line: &str, expected: &[&str]) {
        let (success, text) = self.output(line).await;
        assert!(!success, "kubectl {line}\n{text}");
        assert_all(line, &text, expected);
    }
}

fn assert_all(line: &str, text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "{part:?} is not in the output of kubectl {line}:\n{text}");
    }
}

/// Whether the tool is installed. Where it is not, `test` is skipped; one that is there and does not run is a
/// failure.
pub fn is_installed(test: &str) -> bool {
    match std::process::Command::new("kubectl").args(["version", "--client"]).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skipped(test, "kubectl is not installed");
            false
        }
        Err(error) => panic!("kubectl does not start: {error}"),
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "kubectl version --client fails: {errors}");
            true
        }
    }
}
