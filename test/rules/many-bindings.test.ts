/** An RPC may have thousands of bindings; no rule looks at each of them for each other one. */
import { expect, test } from "vitest";
import type { HttpRule, Rpc } from "../../src/api/api.ts";
import { parsePathTemplate } from "../../src/api/path-template.ts";
import { parseResource } from "../../src/api/resource.ts";
import { pathObjects } from "../../src/rules/support/path-objects.ts";
import { unusedObject } from "../../src/rules/support/unused-object.ts";
import { wholeNames } from "../../src/rules/support/whole-name.ts";

const COUNT = 400;

test.each([
  ["item:*", (rpc: Rpc) => unusedObject(rpc)],
  ["item:{id}", (rpc: Rpc) => wholeNames(rpc)],
  ["other:*", (rpc: Rpc) => rpc.http.map(({ binding }) => binding && pathObjects(binding, rpc))],
])("the bindings are read a few times each for %s", (resource, look) => {
  let reads = 0;
  const http = Array.from({ length: COUNT }, (_, at): HttpRule => {
    const path = `/v1/{id=shops${at}/*/items/*}`;
    const { template } = parsePathTemplate(path);
    if (template === undefined) throw new Error("the path is one");
    return {
      path: [],
      problems: [],
      get binding() {
        reads++;
        return { method: "GET", path, template, fields: [] };
      },
    };
  });
  look({
    name: "Get",
    stream: "unary",
    http,
    resource: { ...parseResource(resource), fields: [] },
  } as never);
  expect(reads).toBeGreaterThanOrEqual(COUNT);
  expect(reads).toBeLessThan(20 * COUNT);
});
