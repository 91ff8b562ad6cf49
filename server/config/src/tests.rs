//! Command lines, and the configurations or messages that they give.
//!
//! Length: each flag has a line in a table.

use std::{net::SocketAddr, path::Path, time::Duration};

use orch_audit::backend::{
    self,
    log::{Format, Output, Rotation},
    webhook::Throttle,
};
use orch_auth::{
    authentication::AuthenticationConfig, authenticator::proxy::ProxyHeaders, authorization::Mode,
    jwt::algorithm::Algorithm,
};
use orch_registry::feature_gates::UNSAFE_DELETION;
use orch_runtime::vocabulary::Vocabulary;
use orch_test_catalog::{KUBERNETES, ORCH};
use regex::Regex;

use super::{CONFIG, Config, Invocation, LogFormat, command, parse};
use crate::{enablement::Enablement, start_error::StartError};

static VOCABULARIES: [&Vocabulary; 2] = [&ORCH, &KUBERNETES];

fn read(flags: &[&str]) -> Result<Invocation, StartError> {
    parse(["orch-apiserver"].iter().chain(flags), &VOCABULARIES)
}

fn config(flags: &[&str]) -> Config {
    match read(flags) {
        Ok(Invocation::Serve(config)) => *config,
        other => panic!("{flags:?}: {other:?}"),
    }
}

#[test]
fn no_flags_are_needed() {
    let config = config(&[]);
    assert_eq!(config.serving.address, "127.0.0.1:6443".parse::<SocketAddr>().unwrap());
    assert_eq!(config.serving.tls_files, None);
    assert_eq!(config.serving.request_timeout, Duration::from_mins(1));
    assert_eq!(
        config.authentication,
        AuthenticationConfig { anonymous: true, ..AuthenticationConfig::default() }
    );
    assert_eq!(config.authorization.modes, [Mode::Node, Mode::Rbac]);
    assert_eq!(config.storage.data_dir, Path::new("orch-data"));
    assert_eq!(config.storage.history_retention, Duration::from_mins(5));
    assert_eq!(config.storage.history_size, 256 << 20);
    assert_eq!((config.logging.format, config.logging.filter.as_str()), (LogFormat::Text, "info"));
    assert_eq!(config.vocabulary.name, "orch");
}

/// They are for three machines, so no test runs them.
#[test]
fn the_commands_of_the_guide_to_replicas_are_understood() {
    let guide = include_str!("../../../docs/REPLICAS.md").replace("\\\n", " ");
    let commands = guide.lines().filter_map(|line| line.strip_prefix("orch-apiserver "));
    let commands: Vec<&str> = commands.collect();
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        let flags: Vec<&str> = command.trim_end_matches('&').split_whitespace().collect();
        assert!(read(&flags).is_ok(), "{command}: {:?}", read(&flags));
    }
}

/// Whether flags have reached the configuration.
type Check = fn(&Config) -> bool;

/// The flags of authentication for which other servers are asked.
const ASKING: &[(&[&str], Check)] = &[
    (&["--oidc-issuer-url=https://i", "--oidc-client-id=c"], |c| {
        c.authentication.oidc.as_ref().is_some_and(|oidc| {
            oidc.issuer_url == "https://i"
                && oidc.client_id == "c"
                && (oidc.username_claim.as_str(), oidc.username_prefix.as_str()) == ("sub", "https://i#")
                && oidc.groups_claim.is_none()
                && oidc.signing_algorithms == [Algorithm::RS256]
        })
    }),
    (
        &[
            "--oidc-issuer-url=https://i",
            "--oidc-client-id=c",
            "--oidc-username-claim=name",
            "--oidc-username-prefix=-",
            "--oidc-groups-claim=roles",
            "--oidc-groups-prefix=g:",
            "--oidc-ca-file=f",
            "--oidc-signing-algs=ES256,PS512",
            "--oidc-required-claim=a=1,b=",
            "--oidc-required-claim=c=d=e",
        ],
        |c| {
            c.authentication.oidc.as_ref().is_some_and(|oidc| {
                (oidc.username_claim.as_str(), oidc.username_prefix.as_str()) == ("name", "")
                    && oidc.groups_claim.as_deref() == Some("roles")
                    && oidc.groups_prefix == "g:"
                    && oidc.ca_file.as_deref() == Some(Path::new("f"))
                    && oidc.signing_algorithms.iter().map(|of| of.name()).eq(["ES256", "PS512"])
                    && oidc.required_claims
                        == [("a", "1"), ("b", ""), ("c", "d=e")].map(|(a, b)| (a.into(), b.into()))
            })
        },
    ),
    (&["--oidc-issuer-url=https://i", "--oidc-client-id=c", "--oidc-username-claim=email"], |c| {
        c.authentication.oidc.as_ref().is_some_and(|oidc| oidc.username_prefix.is_empty())
    }),
    (&["--authentication-config=a"], |c| c.authentication.file.as_deref() == Some("a".as_ref())),
    (&["--authentication-token-webhook-config-file=a"], |c| {
        c.authentication.token_webhook.as_ref().is_some_and(|webhook| {
            webhook.kubeconfig == Path::new("a")
                && webhook.version.name() == "v1beta1"
                && webhook.ttl == Duration::from_mins(2)
        })
    }),
    (
        &[
            "--authentication-token-webhook-config-file=a",
            "--authentication-token-webhook-version=v1",
            "--authentication-token-webhook-cache-ttl=1s",
        ],
        |c| {
            c.authentication.token_webhook.as_ref().is_some_and(|webhook| {
                webhook.version.name() == "v1" && webhook.ttl == Duration::from_secs(1)
            })
        },
    ),
];

/// The flags of how many requests are answered at a time.
const IN_FLIGHT: &[(&[&str], Check)] = &[
    (&["--enable-priority-and-fairness=false"], |c| !c.in_flight.is_fair),
    (&["--max-requests-inflight=7"], |c| c.in_flight.reading == 7),
    (&["--max-mutating-requests-inflight=0"], |c| c.in_flight.mutating == 0),
];

/// The other flags of authentication.
const AUTHENTICATION: &[(&[&str], Check)] = &[
    (&["--client-ca-file=ca"], |c| c.authentication.client_ca_files == [Path::new("ca")]),
    (&["--token-auth-file=t"], |c| c.authentication.token_file.as_deref() == Some(Path::new("t"))),
    (&["--enable-bootstrap-token-auth"], |c| c.authentication.bootstrap_tokens),
    (&["--service-account-issuer=me", "--service-account-issuer=you"], |c| {
        c.authentication.tokens.issuers == ["me", "you"]
    }),
    (&["--service-account-key-file=a", "--service-account-key-file=b"], |c| {
        c.authentication.tokens.key_files == [Path::new("a"), Path::new("b")]
    }),
    (&["--service-account-signing-key-file=a"], |c| {
        c.authentication.tokens.signing_key_file.as_deref() == Some(Path::new("a"))
    }),
    (&["--service-account-jwks-uri=https://a/keys"], |c| {
        c.authentication.tokens.keys_url.as_deref() == Some("https://a/keys")
    }),
    (&["--service-account-max-token-expiration=2h"], |c| c.authentication.tokens.max_lifetime == Some(7200)),
    (&["--service-account-extend-token-expiration=false"], |c| !c.authentication.tokens.extends_lifetime),
    (&["--service-account-lookup=false"], |c| !c.authentication.tokens.looks_up),
    (&["--api-audiences=a,b"], |c| c.authentication.api_audiences == ["a", "b"]),
    (&["--anonymous-auth"], |c| c.authentication.anonymous),
    (&["--anonymous-auth=true"], |c| c.authentication.anonymous),
    (&["--anonymous-auth=1"], |c| c.authentication.anonymous),
    (&["--anonymous-auth=false"], |c| !c.authentication.anonymous),
    (&["--authorization-mode=AlwaysDeny,AlwaysAllow"], |c| !c.authentication.anonymous),
    (&["--authorization-mode=AlwaysAllow", "--anonymous-auth"], |c| c.authentication.anonymous),
    (&["--authorization-mode=AlwaysDeny"], |c| c.authentication.anonymous),
    (&["--authorization-config=a"], |c| c.authentication.anonymous),
    (&["--requestheader-client-ca-file=p"], |c| {
        c.authentication.proxy.as_ref().is_some_and(|proxy| {
            proxy.ca_file == Path::new("p")
                && proxy.allowed_names.is_empty()
                && proxy.headers
                    == ProxyHeaders {
                        user: vec!["x-remote-user".to_owned()],
                        uid: Vec::new(),
                        group: vec!["x-remote-group".to_owned()],
                        extra_prefixes: vec!["x-remote-extra-".to_owned()],
                    }
        })
    }),
    (
        &[
            "--requestheader-client-ca-file=p",
            "--requestheader-allowed-names=front,back",
            "--requestheader-username-headers=X-User,X-Login",
            "--requestheader-uid-headers=X-Id",
            "--requestheader-group-headers=X-Team",
            "--requestheader-extra-headers-prefix=X-More-",
            "--feature-gates=RemoteRequestHeaderUID=true",
        ],
        |c| {
            c.authentication.proxy.as_ref().is_some_and(|proxy| {
                let ProxyHeaders { user, uid, group, extra_prefixes } = &proxy.headers;
                proxy.allowed_names == ["front", "back"]
                    && *user == ["x-user", "x-login"]
                    && [uid, group, extra_prefixes].map(|names| names.join(","))
                        == ["x-id", "x-team", "x-more-"]
            })
        },
    ),
    (&["--requestheader-client-ca-file=p", "--feature-gates=AllAlpha=true"], |c| {
        c.authentication.proxy.as_ref().is_some_and(|proxy| proxy.headers.uid == ["x-remote-uid"])
    }),
];

/// Flags about serving.
const SERVING: &[(&[&str], Check)] = &[
    (&["--bind-address", "::1"], |c| c.serving.address.to_string() == "[::1]:6443"),
    (&["--secure-port=0"], |c| c.serving.address.port() == 0),
    (&["--external-hostname", "api.example.com"], |c| {
        c.serving.external_hostname.as_ref().is_some_and(|name| name.host == "api.example.com")
    }),
    (&["--external-hostname=a:1"], |c| c.serving.external_hostname.as_ref().unwrap().port == Some(1)),
    (&["--tls-cert-file=a", "--tls-private-key-file=b"], |c| {
        c.serving
            .tls_files
            .as_ref()
            .is_some_and(|files| files.certificate == Path::new("a") && files.private_key == Path::new("b"))
    }),
    (&["--request-timeout=90s"], |c| c.serving.request_timeout == Duration::from_secs(90)),
    (&["--min-request-timeout=600"], |c| c.serving.min_request_timeout == Duration::from_mins(10)),
    (&["--goaway-chance=0.001"], |c| c.serving.goaway_chance == 1_000),
    (&[r"--cors-allowed-origins=//a\.b(:|$),^http://localhost$"], |c| {
        c.browsers.origins.iter().map(Regex::as_str).eq([r"//a\.b(:|$)", "^http://localhost$"])
    }),
    (&["--strict-transport-security-directives=max-age=60,preload"], |c| {
        c.browsers.strict_transport.as_ref().is_some_and(|told| told == "max-age=60; preload")
    }),
    (&["--shutdown-delay-duration=70s"], |c| c.serving.shutdown_delay == Duration::from_secs(70)),
    (&["--shutdown-send-retry-after"], |c| c.serving.shutdown_sends_retry_after),
    (&["--livez-grace-period=10s"], |c| c.serving.livez_grace_period == Duration::from_secs(10)),
    (&["--shutdown-grace-period=1s"], |c| c.serving.shutdown_grace_period == Duration::from_secs(1)),
    (&["--max-connections=7"], |c| c.serving.max_connections == 7),
    (&["--max-connections-per-address=8"], |c| c.serving.max_connections_per_address == Some(8)),
    (&["--memory-limit=64MiB"], |c| c.serving.memory_limit == Some(64 << 20)),
];

#[test]
fn every_flag_reaches_the_configuration() {
    let table: &[(&[&str], Check)] = &[
        (&["--self-check"], |c| c.storage.self_check),
        (&["--accept-data-loss"], |c| c.storage.accept_data_loss),
        (&["--runtime-config=api/beta=true,v1=false", "--runtime-config=apps/v1"], |c| {
            c.enablement
                == Enablement::parse(&["api/beta", "v1=false", "apps/v1"].map(str::to_owned)).unwrap()
        }),
        (&["--feature-gates=", "--runtime-config="], |c| c.enablement == Enablement::parse(&[]).unwrap()),
        (&["--enable-admission-plugins=", "--disable-admission-plugins="], |c| {
            c.admission.enabled.is_empty() && c.admission.disabled.is_empty()
        }),
        (&["--feature-gates=AllBeta=true,AllAlpha=true"], |c| c.feature_gates.is_on(&UNSAFE_DELETION)),
        (&["--authorization-mode=ABAC", "--authorization-policy-file=a"], |c| {
            c.authorization.policy_file.as_deref() == Some("a".as_ref())
        }),
        (&["--authorization-config=a"], |c| {
            c.authorization.file.as_deref() == Some("a".as_ref()) && c.authorization.modes.is_empty()
        }),
        (&["--authorization-mode=Webhook", "--authorization-webhook-config-file=a"], |c| {
            c.authorization.webhook.as_ref().is_some_and(|webhook| {
                webhook.kubeconfig == Path::new("a")
                    && webhook.version.name() == "v1beta1"
                    && webhook.authorized_ttl == Duration::from_mins(5)
                    && webhook.unauthorized_ttl == Duration::from_secs(30)
            })
        }),
        (
            &[
                "--authorization-mode=Webhook",
                "--authorization-webhook-config-file=a",
                "--authorization-webhook-version=v1",
                "--authorization-webhook-cache-authorized-ttl=1m",
                "--authorization-webhook-cache-unauthorized-ttl=2m",
            ],
            |c| {
                c.authorization.webhook.as_ref().is_some_and(|webhook| {
                    webhook.version.name() == "v1"
                        && webhook.authorized_ttl == Duration::from_mins(1)
                        && webhook.unauthorized_ttl == Duration::from_mins(2)
                })
            },
        ),
        (&["--authorization-mode=AlwaysDeny,AlwaysAllow"], |c| {
            c.authorization.modes == [Mode::AlwaysDeny, Mode::AlwaysAllow]
        }),
        (&["--data-dir=d"], |c| c.storage.data_dir == Path::new("d")),
        (&["--event-ttl=5m"], |c| c.storage.event_ttl == Duration::from_mins(5)),
        (&["--storage=etcd", "--etcd-servers=a,b", "--etcd-prefix=/p", "--etcd-cafile=ca"], |c| {
            let etcd = c.storage.etcd.as_ref().unwrap();
            let authorities = etcd.authorities.as_deref();
            etcd.servers == ["a", "b"] && etcd.prefix == "/p" && authorities == Some(Path::new("ca"))
        }),
        (&["--storage=etcd", "--etcd-servers=a", "--etcd-certfile=c", "--etcd-keyfile=k"], |c| {
            c.storage.etcd.as_ref().unwrap().identity == Some(("c".into(), "k".into()))
        }),
        (&["--encryption-provider-config=e", "--encryption-provider-config-automatic-reload=true"], |c| {
            c.storage.encryption.file.as_deref() == Some(Path::new("e")) && c.storage.encryption.is_followed
        }),
        (&["--history-size=1GiB"], |c| c.storage.history_size == 1 << 30),
        (&["--history-retention=1h"], |c| c.storage.history_retention == Duration::from_hours(1)),
        (&["--log-format=json"], |c| c.logging.format == LogFormat::Json),
        (&["--log-level=debug"], |c| c.logging.filter == "debug"),
        (&["-v", "warn"], |c| c.logging.filter == "warn"),
        (&["-v=2"], |c| c.logging.filter == "info"),
        (&["-v3"], |c| c.logging.filter == "info,requests=debug"),
        (&["-v4"], |c| c.logging.filter == "debug"),
        (&["-v", "9"], |c| c.logging.filter == "trace"),
        (&["--log-level=info,hyper=debug"], |c| c.logging.filter == "info,hyper=debug"),
        (&["--service-cluster-ip-range=10.96.1.0/12"], |c| c.ranges.addresses.to_string() == "10.96.0.0/12"),
        (&["--service-node-port-range=40000-40010"], |c| c.ranges.ports.to_string() == "40000-40010"),
        (&["--enable-admission-plugins=A,B"], |c| c.admission.enabled == ["A", "B"]),
        (&["--disable-admission-plugins=C"], |c| c.admission.disabled == ["C"]),
        (&["--controllers=*,-garbage-collector"], |c| c.controllers == ["*", "-garbage-collector"]),
        (&["--vocabulary=kubernetes"], |c| c.vocabulary.name == "kubernetes"),
    ];
    let table =
        || table.iter().chain(SERVING).chain(ASKING).chain(AUTHENTICATION).chain(IN_FLIGHT).chain(AUDIT);
    for (flags, check) in table() {
        assert!(check(&config(flags)), "{flags:?}");
    }

    let tried = |flag: &str| {
        table().flat_map(|(flags, _)| flags.iter()).any(|typed| typed.split('=').next() == Some(flag))
    };
    let command = command(&VOCABULARIES);
    // The file of flags has tests of its own.
    let flags = command.get_arguments().filter_map(|flag| flag.get_long()).filter(|flag| *flag != CONFIG);
    for flag in flags {
        assert!(tried(&format!("--{flag}")), "--{flag} is missing in the table");
    }
}

/// Mistakes about those for which other servers are asked.
const ASKING_MISTAKES: &[(&[&str], &str)] = &[
    (
        &["--oidc-issuer-url=http://i", "--oidc-client-id=c"],
        "--oidc-issuer-url: \"http://i\" must begin with https://",
    ),
    (
        &["--service-account-jwks-uri=https://u:p@a/keys"],
        "--service-account-jwks-uri: \"https://u:p@a/keys\" must not contain a username or password",
    ),
    (
        &["--cors-allowed-origins=example.com$"],
        "invalid value 'example.com$' for '--cors-allowed-origins <REGEX,...>': does not say where the host \
         begins: ^ or // is missing; --help lists all flags",
    ),
    (
        &["--cors-allowed-origins=https://example.com"],
        "invalid value 'https://example.com' for '--cors-allowed-origins <REGEX,...>': does not say where the \
         host ends: $ or : is missing; --help lists all flags",
    ),
    (
        &["--strict-transport-security-directives=max-age"],
        "invalid value 'max-age' for '--strict-transport-security-directives <DIRECTIVE,...>': not one of \
         max-age=SECONDS, includeSubDomains, preload; --help lists all flags",
    ),
    (
        &["--goaway-chance=0.5"],
        "invalid value '0.5' for '--goaway-chance <PART>': not between 0 and 0.02; --help lists all flags",
    ),
    (
        &["--authentication-config=a", "--feature-gates=StructuredAuthenticationConfiguration=false"],
        "--authentication-config: needs the feature gate StructuredAuthenticationConfiguration",
    ),
    (
        &["--authentication-config=a", "--oidc-groups-claim=g"],
        "--oidc-groups-claim: cannot be given with --authentication-config",
    ),
    (
        &["--authentication-token-webhook-cache-ttl=1s"],
        "--authentication-token-webhook-config-file: is needed by \
         --authentication-token-webhook-cache-ttl",
    ),
    (&["--oidc-client-id=c"], "--oidc-issuer-url: is needed by --oidc-client-id"),
    (&["--oidc-ca-file=f"], "--oidc-client-id: is needed by --oidc-ca-file"),
    (
        &["--oidc-issuer-url=https://i", "--oidc-client-id=c", "--oidc-required-claim=a=1,a=2"],
        "--oidc-required-claim: the claim \"a\" is given twice",
    ),
];

/// Flags about audit.
const AUDIT: &[(&[&str], Check)] = &[
    (&["--tracing-config-file=t"], |c| c.observation.tracing_file.as_deref() == Some(Path::new("t"))),
    (&[], |c| c.observation.profiles),
    (&["--max-requests-per-user=7", "--max-requests-per-address=8"], |c| c.client_limits.requests == [7, 8]),
    (&["--max-watches-per-user=7", "--max-watches-per-address=8"], |c| c.client_limits.watches == [7, 8]),
    (&["--max-connections-per-user=7"], |c| c.client_limits.connections == 7),
    (&["--max-body-bytes-per-user=7MiB"], |c| c.client_limits.body_bytes == [7 << 20, 64 << 20]),
    (&["--max-body-bytes-per-address=7MiB"], |c| c.client_limits.body_bytes == [32 << 20, 7 << 20]),
    (&["--min-read-rate=1Ki"], |c| c.pace.min_rate == 1024),
    (&["--min-read-rate-grace-period=2m"], |c| c.pace.grace == Duration::from_mins(2)),
    (&["--profiling=false"], |c| !c.observation.profiles),
    (&["--audit-policy-file=p"], |c| c.audit.policy_file.as_deref() == Some(Path::new("p"))),
    (&["--audit-log-path=-"], |c| log_of(c).output == Output::Stdout),
    (
        &["--audit-log-path=a", "--audit-log-maxage=2", "--audit-log-maxbackup=3", "--audit-log-compress"],
        |c| {
            let rotation = Rotation {
                max_size: 100 << 20,
                max_age: Some(Duration::from_hours(48)),
                max_backups: Some(3),
                compress: true,
            };
            log_of(c).output == Output::File("a".into(), rotation)
        },
    ),
    (
        &["--audit-log-path=a", "--audit-log-maxsize=7"],
        |c| matches!(&log_of(c).output, Output::File(_, rotation) if rotation.max_size == 7 << 20),
    ),
    (&["--audit-log-path=-", "--audit-log-format=legacy"], |c| log_of(c).format == Format::Legacy),
    (&["--audit-log-path=-"], |c| log_of(c).mode == backend::Mode::Blocking),
    (&["--audit-log-path=-", "--audit-log-mode=blocking-strict"], |c| {
        log_of(c).mode == backend::Mode::BlockingStrict
    }),
    (&["--audit-log-path=-", "--audit-log-batch-buffer-size=8"], |c| log_of(c).buffer == 8),
    (&["--audit-log-path=-", "--audit-log-batch-max-size=8"], |c| log_of(c).max_batch == 8),
    (&["--audit-log-path=-", "--audit-log-truncate-enabled"], |c| {
        log_of(c).truncation.as_ref().is_some_and(|of| of.suffix == "orch.io")
    }),
    (&["--audit-log-path=-", "--audit-log-truncate-enabled", "--audit-log-truncate-max-event-size=9"], |c| {
        log_of(c).truncation.as_ref().is_some_and(|of| of.max_event == 9)
    }),
    (&["--audit-log-path=-", "--audit-log-version=audit.orch.io/v1"], |c| {
        log_of(c).api_version == "audit.orch.io/v1"
    }),
    (&["--audit-webhook-config-file=k"], |c| {
        c.audit
            .webhook
            .as_ref()
            .is_some_and(|(file, of)| file == Path::new("k") && of.mode == backend::Mode::Batch)
    }),
    (&["--audit-webhook-config-file=k", "--audit-webhook-mode=blocking"], |c| {
        webhook_of(c).mode == backend::Mode::Blocking
    }),
    (&["--audit-webhook-config-file=k", "--audit-webhook-initial-backoff=2s"], |c| {
        webhook_of(c).initial_backoff == Duration::from_secs(2)
    }),
    (&["--audit-webhook-config-file=k", "--audit-webhook-batch-buffer-size=8"], |c| {
        webhook_of(c).buffer == 8
    }),
    (&["--audit-webhook-config-file=k", "--audit-webhook-batch-max-size=8"], |c| {
        webhook_of(c).max_batch == 8
    }),
    (&["--audit-webhook-config-file=k", "--audit-webhook-batch-max-wait=1s"], |c| {
        webhook_of(c).max_wait == Duration::from_secs(1)
    }),
    (&["--audit-webhook-config-file=k", "--audit-webhook-batch-throttle-enable=false"], |c| {
        webhook_of(c).throttle.is_none()
    }),
    (
        &[
            "--audit-webhook-config-file=k",
            "--audit-webhook-batch-throttle-qps=2.5",
            "--audit-webhook-batch-throttle-burst=3",
        ],
        |c| webhook_of(c).throttle == Some(Throttle { per_second: 2.5, burst: 3 }),
    ),
    (
        &[
            "--audit-webhook-config-file=k",
            "--audit-webhook-truncate-enabled",
            "--audit-webhook-truncate-max-event-size=9",
        ],
        |c| webhook_of(c).truncation.as_ref().is_some_and(|of| of.max_event == 9),
    ),
    (&["--audit-webhook-config-file=k", "--audit-webhook-truncate-max-batch-size=9"], |c| {
        webhook_of(c).max_batch_bytes == 9
    }),
    (
        &[
            "--vocabulary=kubernetes",
            "--audit-webhook-config-file=k",
            "--audit-webhook-version=audit.k8s.io/v1",
        ],
        |c| webhook_of(c).api_version == "audit.k8s.io/v1",
    ),
];

fn log_of(config: &Config) -> &backend::log::Settings {
    config.audit.log.as_ref().expect("there is a log")
}

fn webhook_of(config: &Config) -> &backend::webhook::Settings {
    config.audit.webhook.as_ref().map(|(_, settings)| settings).expect("there is a webhook")
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table with a row for each mistake")]
fn what_is_wrong_is_one_line_with_a_remedy() {
    for (flags, expected) in [
        (&["--nonsense"][..], "unexpected argument '--nonsense' found; --help lists all flags"),
        (&["surplus"], "unrecognized subcommand 'surplus'; --help lists all flags"),
        (&["bakcup"], "unrecognized subcommand 'bakcup' (did you mean backup?); --help lists all flags"),
        (&["backup"], "the following required arguments were not provided: <FILE>; --help lists all flags"),
        (
            &["migrate-storage"],
            "the following required arguments were not provided: --from <PLACE>, --to <PLACE>; \
             --help lists all flags",
        ),
        (
            &["man", "bakcup"],
            "invalid value 'bakcup' for '[SUBCOMMAND]' (one of: check, repair, backup, restore, compact, \
             export, migrate-storage, kubeconfig, import, migrate, validate, convert); \
             --help lists all flags",
        ),
        (
            &["--secure-port=1", "check"],
            "the subcommand 'check' cannot be used with '--secure-port <PORT>'; --help lists all flags",
        ),
        (
            &["--secure-prot=1"],
            "unexpected argument '--secure-prot' found (did you mean --secure-port?); --help lists all flags",
        ),
        (
            &["--secure-port=70000"],
            "invalid value '70000' for '--secure-port <PORT>': 70000 is not in 0..=65535; \
             --help lists all flags",
        ),
        (
            &["--bind-address=localhost"],
            "invalid value 'localhost' for '--bind-address <IP>': invalid IP address syntax; \
             --help lists all flags",
        ),
        (
            &["--request-timeout=60"],
            "invalid value '60' for '--request-timeout <DURATION>': not a duration such as 90s, 5m or 1h30m; \
             --help lists all flags",
        ),
        (
            &["--anonymous-auth=perhaps"],
            "invalid value 'perhaps' for '--anonymous-auth[=<BOOL>]': value was not a boolean; \
             --help lists all flags",
        ),
        (
            &["--requestheader-username-headers=X-User"],
            "--requestheader-username-headers: needs --requestheader-client-ca-file",
        ),
        (
            &["--requestheader-allowed-names=front"],
            "--requestheader-allowed-names: needs --requestheader-client-ca-file",
        ),
        (
            &["--requestheader-client-ca-file=a", "--requestheader-allowed-names=front,"],
            "--requestheader-allowed-names: a name is empty",
        ),
        (
            &["--requestheader-client-ca-file=a", "--requestheader-group-headers=X Team"],
            "--requestheader-group-headers: \"X Team\" is not the name of a header",
        ),
        (
            &["--requestheader-client-ca-file=a", "--requestheader-uid-headers=X-Id"],
            "--requestheader-uid-headers: needs --feature-gates=RemoteRequestHeaderUID=true",
        ),
        (
            &["--authorization-mode=RBCA"],
            "invalid value 'RBCA' for '--authorization-mode <MODE[,MODE...]>' \
             (one of: AlwaysAllow, AlwaysDeny, ABAC, Node, RBAC, Webhook); \
             --help lists all flags",
        ),
        (
            &["--vocabulary=third"],
            "invalid value 'third' for '--vocabulary <NAME>' (one of: orch, kubernetes); \
             --help lists all flags",
        ),
        (
            &["--external-hostname=a:b"],
            "invalid value 'a:b' for '--external-hostname <HOST[:PORT]>': not a port behind the colon; \
             --help lists all flags",
        ),
        (
            &["--data-dir"],
            "a value is required for '--data-dir <DIR>' but none was supplied; --help lists all flags",
        ),
        (&["--authorization-mode=AlwaysDeny,AlwaysDeny"], "--authorization-mode: AlwaysDeny is given twice"),
        (
            &["--authorization-mode=ABAC"],
            "--authorization-policy-file: is needed by --authorization-mode=ABAC",
        ),
        (
            &["--authorization-policy-file=a"],
            "--authorization-policy-file: is for --authorization-mode=ABAC alone",
        ),
        (
            &["--authorization-config=a", "--authorization-mode=RBAC"],
            "--authorization-mode: cannot be given with --authorization-config",
        ),
        (
            &["--authorization-config=a", "--authorization-webhook-version=v1"],
            "--authorization-webhook-version: cannot be given with --authorization-config",
        ),
        (
            &["--authorization-mode=Webhook"],
            "--authorization-webhook-config-file: is needed by --authorization-mode=Webhook",
        ),
        (
            &["--authorization-webhook-config-file=a"],
            "--authorization-webhook-config-file: is for --authorization-mode=Webhook alone",
        ),
        (&["--tls-cert-file=a"], "--tls-cert-file: needs --tls-private-key-file too"),
        (&["--tls-private-key-file=a"], "--tls-private-key-file: needs --tls-cert-file too"),
        (&["-v11"], "--log-level: numbers go from 0 to 10"),
        (
            &["--log-level=verbose"],
            "--log-level: \"verbose\" is not a level (error, warn, info, debug, trace), a number or a list",
        ),
        (
            &["--log-level=a=b=c"],
            "--log-level: \"a=b=c\" is not a level (error, warn, info, debug, trace), a number or a list",
        ),
    ]
    .into_iter()
    .chain(ASKING_MISTAKES.iter().copied())
    {
        let error = read(flags).expect_err("must be refused");
        assert_eq!(error.to_string(), expected, "{flags:?}");
        assert_eq!(error.exit_code(), std::process::ExitCode::from(2), "{flags:?}");
    }
}

#[test]
fn help_and_version_are_shown() {
    for (arguments, expected) in [
        (&["--help"][..], "--bind-address <IP>"),
        (&["help"], "--bind-address <IP>"),
        (&["help", "repair"], "repair [OPTIONS]"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        match read(arguments) {
            Ok(Invocation::Show(text)) => assert!(text.contains(expected), "{text}"),
            other => panic!("{arguments:?}: {other:?}"),
        }
    }
}

#[test]
fn every_flag_is_explained() {
    let command = command(&VOCABULARIES);
    command.clone().debug_assert();
    for flag in command.get_arguments() {
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.len() >= 20, "--{} says only {help:?}", flag.get_id());
        assert!(flag.get_help_heading().is_some(), "--{} stands under no heading", flag.get_id());
    }
}

#[test]
fn what_is_wrong_about_audit_is_named() {
    for (flags, expected) in [
        (&["--audit-log-version=audit.k8s.io/v1"][..], "--audit-log-version: must be audit.orch.io/v1"),
        (&["--audit-webhook-version=v1"], "--audit-webhook-version: must be audit.orch.io/v1"),
        (
            &["--audit-webhook-batch-max-size=0"],
            "--audit-webhook-batch-max-size: must be from 1 to 4294967295",
        ),
        (
            &["--audit-log-batch-buffer-size=18446744073709551615"],
            "--audit-log-batch-buffer-size: must be from 1 to 4294967295",
        ),
        (
            &["--audit-webhook-batch-throttle-qps=0"],
            "--audit-webhook-batch-throttle-qps: must be greater than 0",
        ),
    ] {
        assert_eq!(read(flags).expect_err("must be refused").to_string(), expected, "{flags:?}");
    }
}
