//! The order in which errors of a pod are reported.

use orch_runtime::field_error::Order;

/// The fields of a pod spec; volumes and containers come first.
pub(super) const POD_SPEC: &[Order] = &[
    Order::with("volumes", VOLUME),
    Order::of("resourceClaims"),
    Order::with("containers", CONTAINER),
    Order::with("initContainers", INIT_CONTAINER),
    Order::with("ephemeralContainers", EPHEMERAL_CONTAINER),
    Order::of("resources"),
    Order::of("restartPolicy"),
    Order::of("dnsPolicy"),
    Order::of("nodeSelector"),
    Order::with("securityContext", POD_SECURITY),
    Order::of("imagePullSecrets"),
    Order::of("affinity"),
    Order::with("dnsConfig", DNS),
    Order::of("readinessGates"),
    Order::with("schedulingGates", IN_PLACE),
    Order::with("topologySpreadConstraints", SPREAD),
    Order::of("hostNetwork"),
    Order::of("HostPID"),
    Order::of("HostIPC"),
    Order::of("serviceAccountName"),
    Order::of("nodeName"),
    Order::of("activeDeadlineSeconds"),
    Order::of("hostname"),
    Order::of("subdomain"),
    Order::of("tolerations"),
    Order::of("hostAliases"),
    Order::of("priorityClassName"),
    Order::of("runtimeClassName"),
    Order::of("preemptionPolicy"),
    Order::of("overhead"),
];

/// Items of a list in the order of their index.
const IN_PLACE: &[Order] = &[Order::of("*")];

const VOLUME: &[Order] = &[
    Order::with("configMap", &[Order::of("name"), Order::of("defaultMode")]),
    Order::with("secret", &[Order::of("secretName"), Order::of("defaultMode")]),
    Order::with("projected", &[Order::of("defaultMode"), Order::of("*")]),
    Order::with(
        "iscsi",
        &[Order::of("targetPortal"), Order::of("iqn"), Order::of("lun"), Order::of("secretRef")],
    ),
    Order::with("image", &[Order::of("reference")]),
    Order::of("*"),
    Order::of("name"),
];

const CONTAINER: &[Order] = &[
    Order::of("name"),
    Order::of("image"),
    Order::of("terminationMessagePolicy"),
    Order::with("ports", PORT),
    Order::with("env", ENV),
    Order::of("envFrom"),
    Order::of("volumeMounts"),
    Order::of("volumeDevices"),
    Order::of("imagePullPolicy"),
    Order::of("resources"),
    Order::of("resizePolicy"),
    Order::with("securityContext", SECURITY),
    Order::of("lifecycle"),
    Order::of("livenessProbe"),
    Order::of("readinessProbe"),
    Order::of("startupProbe"),
    Order::of("restartPolicy"),
];

const INIT_CONTAINER: &[Order] = &[
    Order::of("name"),
    Order::of("image"),
    Order::of("terminationMessagePolicy"),
    Order::with("ports", PORT),
    Order::with("env", ENV),
    Order::of("envFrom"),
    Order::of("volumeMounts"),
    Order::of("volumeDevices"),
    Order::of("imagePullPolicy"),
    Order::of("resources"),
    Order::of("resizePolicy"),
    Order::with("securityContext", SECURITY),
    Order::of("restartPolicy"),
    Order::of("lifecycle"),
];

const EPHEMERAL_CONTAINER: &[Order] = &[
    Order::of("name"),
    Order::of("image"),
    Order::of("terminationMessagePolicy"),
    Order::with("env", ENV),
    Order::of("envFrom"),
    Order::of("volumeMounts"),
    Order::of("volumeDevices"),
    Order::of("imagePullPolicy"),
    Order::with("securityContext", SECURITY),
    Order::of("targetContainerName"),
    Order::of("ports"),
    Order::of("resources"),
    Order::of("resizePolicy"),
    Order::of("livenessProbe"),
    Order::of("readinessProbe"),
    Order::of("startupProbe"),
    Order::of("lifecycle"),
];

const PORT: &[Order] =
    &[Order::of("name"), Order::of("containerPort"), Order::of("hostPort"), Order::of("protocol")];

const ENV: &[Order] = &[
    Order::of("name"),
    Order::with(
        "valueFrom",
        &[
            Order::of("fieldRef"),
            Order::of("resourceFieldRef"),
            Order::of("configMapKeyRef"),
            Order::of("secretKeyRef"),
        ],
    ),
];

const SECURITY: &[Order] = &[
    Order::of("runAsUser"),
    Order::of("runAsGroup"),
    Order::of("procMount"),
    Order::of("seccompProfile"),
    Order::of(""),
    Order::of("windowsOptions"),
    Order::of("appArmorProfile"),
];

const POD_SECURITY: &[Order] = &[
    Order::of("fsGroup"),
    Order::of("runAsUser"),
    Order::of("runAsGroup"),
    Order::of("supplementalGroups"),
    Order::of("shareProcessNamespace"),
    Order::with("sysctls", IN_PLACE),
    Order::of("fsGroupChangePolicy"),
    Order::of("seccompProfile"),
    Order::of("windowsOptions"),
    Order::of("appArmorProfile"),
    Order::of("supplementalGroupsPolicy"),
    Order::of("seLinuxChangePolicy"),
];

const DNS: &[Order] = &[
    Order::with("nameservers", &[Order::of("")]),
    Order::with("searches", &[Order::of("")]),
    Order::of("options"),
];

const SPREAD: &[Order] = &[
    Order::of("maxSkew"),
    Order::of("topologyKey"),
    Order::of("whenUnsatisfiable"),
    Order::of("{topologyKey, whenUnsatisfiable}"),
    Order::of("minDomains"),
    Order::of("nodeAffinityPolicy"),
    Order::of("nodeTaintsPolicy"),
    Order::of("matchLabelKeys"),
    Order::of("labelSelector"),
];
