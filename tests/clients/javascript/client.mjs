// What programs with the JavaScript client do: typed objects, lists, informers. The server is found by KUBECONFIG.
import assert from "node:assert";
import * as k8s from "@kubernetes/client-node";

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const namespace = "default";
const object = (value) => ({ metadata: { name: "javascript" }, data: { value } });

const made = await core.createNamespacedConfigMap({ namespace, body: object("1") });
assert.ok(made.metadata.uid);
assert.ok(made.metadata.creationTimestamp instanceof Date);

const seen = [];
const list = () => core.listNamespacedConfigMap({ namespace });
const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
informer.on("add", (item) => seen.push(`add ${item.data.value}`));
informer.on("update", (item) => seen.push(`update ${item.data.value}`));
informer.on("delete", (item) => seen.push(`delete ${item.data.value}`));
informer.on("error", (error) => assert.fail(error));
await informer.start();
const until = async (count) => {
  for (let wait = 0; seen.length < count; wait++) {
    assert.ok(wait < 1000, `only ${seen}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
await until(1);

// A replacement that knows nothing of the server's metadata.
await core.replaceNamespacedConfigMap({ name: "javascript", namespace, body: object("2") });
await until(2);
await core.deleteNamespacedConfigMap({ name: "javascript", namespace });
await until(3);
assert.deepStrictEqual(seen, ["add 1", "update 2", "delete 2"]);
await assert.rejects(core.readNamespacedConfigMap({ name: "javascript", namespace }), (error) => error.code === 404);
console.log("done");
process.exit(0);
