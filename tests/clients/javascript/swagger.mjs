// What Swagger UI does with published documents: swagger-client, which it is made of, reads and resolves each of
// them and builds a request for every operation; swagger-parser follows every reference and judges the document.

import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import SwaggerParser from "@apidevtools/swagger-parser";
import SwaggerClient from "swagger-client";

const SERVER = "https://server.example";
const url = `${SERVER}/openapi`;
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

let operations = 0;
const files = process.argv.slice(2);
for (const file of files) {
  const spec = JSON.parse(readFileSync(file, "utf8"));
  // It changes what it is given.
  const parsed = await SwaggerParser.validate(structuredClone(spec), { dereference: { circular: "ignore" } });
  const client = await new SwaggerClient({ url, spec: structuredClone(spec) });
  assert.deepEqual(client.errors, [], file);
  for (const [path, item] of Object.entries(parsed.paths)) {
    for (const method of METHODS.filter((method) => item[method])) {
      const operation = item[method];
      const all = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      const wanted = all.filter((one) => one.required);
      const parameters = Object.fromEntries(wanted.map((one) => [one.name, one.in === "body" ? {} : "x"]));
      const { operationId } = operation;
      const asked = { operationId, parameters, requestBody: {} };
      const request = SwaggerClient.buildRequest({ spec: client.spec, contextUrl: url, ...asked });
      assert.equal(request.url, SERVER + path.replaceAll(/{[^}]*}/g, "x"), operationId);
      assert.equal(request.method.toLowerCase(), method);
      const group = client.apis[operation.tags[0]];
      assert.equal(typeof group[operationId], "function", operationId);
      operations += 1;
    }
  }
}
assert.ok(operations > 0);
console.log(`${files.length} documents, ${operations} operations`);
