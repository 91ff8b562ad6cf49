// What programs in TypeScript do with exported types and the JavaScript client. The server is found by KUBECONFIG.
import assert from "node:assert";
import * as k8s from "@kubernetes/client-node";
import type { coordination, core } from "./kinds.mjs";

type ConfigMap = core.v1.ConfigMap<k8s.V1ObjectMeta>;
type Lease = coordination.v1.Lease<k8s.V1ObjectMeta>;

const config = new k8s.KubeConfig();
config.loadFromDefault();
const api = k8s.KubernetesObjectApi.makeApiClient(config);
const metadata = { name: "typed", namespace: "default" };

const map: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "1" } };
const made = await api.create<ConfigMap>(map);
assert.deepStrictEqual(made.data, { a: "1" });
assert.ok(made.metadata?.creationTimestamp instanceof Date);

made.data = { ...made.data, b: "2" };
const changed = await api.replace<ConfigMap>(made);
assert.strictEqual(changed.data?.b, "2");
const list = await api.list<ConfigMap>("v1", "ConfigMap", "default");
assert.ok(list.items.some((item) => item.data?.b === "2"));
await api.delete(map);

const spec: coordination.v1.LeaseSpec = { holderIdentity: "typed", leaseDurationSeconds: 15 };
const lease: Lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
assert.strictEqual((await api.create<Lease>(lease)).spec?.leaseDurationSeconds, 15);
await api.delete(lease);

// What is wrong does not compile.
// @ts-expect-error values of config maps are texts
const number: ConfigMap = { data: { a: 1 } };
// @ts-expect-error there is no such field
const unknown: coordination.v1.LeaseSpec = { holder: "typed" };
// @ts-expect-error a policy is one of a few words
const word: core.v1.ServicePort = { port: 80, protocol: "Smoke" };
// @ts-expect-error a port is required
const missing: core.v1.ServicePort = { protocol: "TCP" };
assert.ok(number && unknown && word && missing);
console.log("done");
process.exit(0);
