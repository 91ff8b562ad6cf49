"""What programs with the Python client do: typed and dynamic objects, watches, patches. The server is found by KUBECONFIG."""
from kubernetes import client, config, dynamic, watch

config.load_kube_config()
core = client.CoreV1Api()
metadata = client.V1ObjectMeta(name="python", labels={"from": "python"})
made = core.create_namespaced_config_map("default", client.V1ConfigMap(metadata=metadata, data={"value": "1"}))
assert made.metadata.uid

# A replacement that knows nothing of the server's metadata.
core.replace_namespaced_config_map("python", "default", client.V1ConfigMap(metadata=metadata, data={"value": "2"}))
core.patch_namespaced_config_map("python", "default", {"data": {"value": "3"}})
found = core.list_namespaced_config_map("default", label_selector="from=python")
assert [item.data["value"] for item in found.items] == ["3"], found

stream = watch.Watch()
events = stream.stream(
    core.list_namespaced_config_map, "default", resource_version=made.metadata.resource_version, timeout_seconds=5
)
assert next(events)["object"].data["value"] == "2"
assert next(events)["object"].data["value"] == "3"
stream.stop()

spec = client.V1PodSpec(containers=[client.V1Container(name="c", image="i")])
core.create_namespaced_pod("default", client.V1Pod(metadata=client.V1ObjectMeta(name="python"), spec=spec))
target = client.V1ObjectReference(kind="Node", name="node")
body = client.V1Binding(metadata=client.V1ObjectMeta(name="python"), target=target)
core.create_namespaced_pod_binding("python", "default", body, _preload_content=False)
assert core.read_namespaced_pod("python", "default").spec.node_name == "node"
core.delete_namespaced_pod("python", "default", grace_period_seconds=0)

any_kind = dynamic.DynamicClient(client.ApiClient())
leases = any_kind.resources.get(api_version="coordination.k8s.io/v1", kind="Lease")
lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "python"}, "spec": {}}
leases.server_side_apply(body=lease, namespace="default", field_manager="python")
assert leases.get(name="python", namespace="default").metadata.name == "python"
try:
    core.read_namespaced_config_map("none", "default")
    raise AssertionError("it is there")
except client.ApiException as error:
    assert error.status == 404, error
print("done")
