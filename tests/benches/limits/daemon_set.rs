//! A large object, as people write it: the daemon set of an agent.

use serde_json::{Value, json};

/// An agent that runs on every node: what people who ship logs and measures deploy. Its image is new each
/// time.
pub fn daemon_set() -> Value {
    let labels =
        json!({"app.example.com/name": "agent", "app.example.com/component": "logs", "tier": "node"});
    let probe = |path: &str| {
        json!({"httpGet": {"path": path, "port": "metrics"}, "initialDelaySeconds": 10,
        "periodSeconds": 15, "timeoutSeconds": 5, "failureThreshold": 3})
    };
    let mount = |name: &str, path: &str, read_only: bool| {
        json!({
            "name": name, "mountPath": path, "readOnly": read_only,
        })
    };
    let agent = json!({
        "name": "agent",
        "image": "registry.example.com/observability/agent:NAME",
        "imagePullPolicy": "IfNotPresent",
        "args": ["--config=/etc/agent/agent.yaml", "--listen=:9101", "--log-level=info"],
        "env": [
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "POD_SPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            {"name": "SINK_URL", "value": "https://logs.example.com/ingest"},
            {"name": "SINK_TOKEN", "valueFrom": {"secretKeyRef": {"name": "sink", "key": "token"}}},
            {"name": "BUFFER_BYTES", "value": "16777216"}
        ],
        "ports": [
            {"name": "metrics", "containerPort": 9101},
            {"name": "syslog", "containerPort": 514, "protocol": "UDP"},
        ],
        "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "livenessProbe": probe("/healthy"),
        "readinessProbe": probe("/ready"),
        "securityContext": {"readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"], "add": ["DAC_READ_SEARCH"]}},
        "volumeMounts": [mount("config", "/etc/agent", true), mount("logs", "/var/log", true),
            mount("state", "/var/lib/agent", false), mount("tmp", "/tmp", false)]
    });
    let exporter = json!({
        "name": "exporter",
        "image": "registry.example.com/observability/exporter:v1.8.2",
        "args": ["--path.rootfs=/host"],
        "ports": [{"name": "node", "containerPort": 9100, "hostPort": 9100}],
        "resources": {"limits": {"memory": "64Mi"}, "requests": {"cpu": "20m", "memory": "32Mi"}},
        "volumeMounts": [mount("root", "/host", true)]
    });
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "NAME", "labels": labels, "annotations": {"example.com/owner": "platform",
            "example.com/runbook": "https://runbooks.example.com/agent"}},
        "spec": {
            "selector": {"matchLabels": {"app.example.com/name": "agent"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
            "template": {
                "metadata": {"labels": labels, "annotations": {"example.com/scrape": "true"}},
                "spec": {
                    "serviceAccountName": "agent",
                    "priorityClassName": "system-node-critical",
                    "hostNetwork": true,
                    "dnsPolicy": "ClusterFirstWithHostNet",
                    "terminationGracePeriodSeconds": 60,
                    "nodeSelector": {"example.com/os": "linux"},
                    "tolerations": [
                        {"operator": "Exists", "effect": "NoSchedule"},
                        {"operator": "Exists", "effect": "NoExecute"},
                    ],
                    "initContainers": [{"name": "prepare", "image": "registry.example.com/base/shell:3.20",
                        "command": ["sh", "-c", "mkdir -p /var/lib/agent/buffer"],
                        "volumeMounts": [mount("state", "/var/lib/agent", false)]}],
                    "containers": [agent, exporter],
                    "volumes": [
                        {"name": "config", "configMap": {"name": "agent"}},
                        {"name": "logs", "hostPath": {"path": "/var/log"}},
                        {
                            "name": "state",
                            "hostPath": {"path": "/var/lib/agent", "type": "DirectoryOrCreate"},
                        },
                        {"name": "root", "hostPath": {"path": "/"}},
                        {"name": "tmp", "emptyDir": {}}
                    ]
                }
            }
        }
    })
}
