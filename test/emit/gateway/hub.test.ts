/** The committed files of the example are valid by the CRDs, and cover each protected RPC with a policy. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../support/workspace.ts";
import { CrdValidator, hasCrds } from "./crd-validator.ts";
import { documentsOf, ofKind } from "./documents.ts";

const GATEWAY = join(ROOT, "examples/hub/gen/gateway");
const documents = documentsOf(
  readdirSync(GATEWAY, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => ({ name, content: readFileSync(join(GATEWAY, name), "utf8") })),
);

test.skipIf(!hasCrds)("every document is valid by the CRDs (needs the CRDs)", () => {
  const validator = new CrdValidator();
  expect(documents.length).toBeGreaterThan(5);
  for (const { file: _file, ...document } of documents) {
    expect(validator.validate(document), document.kind).toEqual([]);
  }
});

test("every route is the target of a SecurityPolicy in its own file [EDGE-2]", () => {
  const routes = ofKind(documents, "HTTPRoute");
  expect(routes.length).toBeGreaterThan(1);
  const policies = ofKind(documents, "SecurityPolicy");
  for (const route of routes) {
    const covering = policies.filter(
      ({ file, metadata, spec }) =>
        file === route.file &&
        metadata.namespace === route.metadata.namespace &&
        spec.targetRefs.some(
          ({ kind, name }: { kind: string; name: string }) =>
            kind === "HTTPRoute" && name === route.metadata.name,
        ),
    );
    expect(covering, route.metadata.name).toHaveLength(1);
    const isPublic = route.metadata.name.endsWith(".public");
    expect(covering[0]?.spec.oidc === undefined, route.metadata.name).toBe(isPublic);
  }
});
