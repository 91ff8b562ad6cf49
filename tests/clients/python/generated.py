"""What a program does with a client that was generated from a published document: the package leases. KUBECONFIG names the
server. Any failure ends the program."""
import datetime

import kubernetes
import leases

known = kubernetes.client.Configuration()
kubernetes.config.load_kube_config(client_configuration=known)
configuration = leases.Configuration(host=known.host, ssl_ca_cert=known.ssl_ca_cert)
configuration.cert_file, configuration.key_file = known.cert_file, known.key_file
token = known.api_key.get("authorization")
if token:
    configuration.api_key["BearerToken"] = token
api = leases.CoordinationV1Api(leases.ApiClient(configuration))
namespace = "default"


def type_of(name):
    """The type of a schema: its name has the group, whose domain depends on the vocabulary."""
    return next(getattr(leases, known) for known in dir(leases) if known.endswith("V1" + name))


renewed = datetime.datetime(2026, 11, 20, 10, 0, 0, 123456, datetime.timezone.utc)
lease = type_of("Lease")(
    metadata=type_of("ObjectMeta")(name="generated", labels={"made": "by-a-generator"}),
    spec=type_of("LeaseSpec")(holder_identity="me", lease_duration_seconds=15, renew_time=renewed),
)
made = api.create_coordination_v1_namespaced_lease(namespace, lease, field_validation="Strict")
assert made.metadata.uid and made.spec.renew_time == renewed, made
made.spec.holder_identity = "you"
replaced = api.replace_coordination_v1_namespaced_lease("generated", namespace, made)
assert replaced.metadata.resource_version != made.metadata.resource_version
try:
    api.replace_coordination_v1_namespaced_lease("generated", namespace, made)
    raise AssertionError("an old version is refused")
except leases.ApiException as refused:
    assert refused.status == 409, refused
listed = api.list_coordination_v1_namespaced_lease(namespace, label_selector="made=by-a-generator")
assert [item.spec.holder_identity for item in listed.items] == ["you"], listed
assert api.read_coordination_v1_namespaced_lease("generated", namespace).spec == replaced.spec
assert api.delete_coordination_v1_namespaced_lease("generated", namespace).status == "Success"
print("done")
