/** `svc-access/iam` has the whole API: what protos of it are added is there without a change by hand. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as iam from "svc-access/iam";
import { expect, test } from "vitest";
import { SHIPPED_RPCS } from "../../src/gen/shipped-services.ts";
import { ROOT } from "../support/workspace.ts";

const FOLDER = join(ROOT, "src/gen/proto/svc/iam/v1");
const EXPORTS: Readonly<Record<string, unknown>> = iam;

test.each(readdirSync(FOLDER).filter((name) => name.endsWith("_pb.ts")))(
  "all messages and descriptors of %s",
  async (name) => {
    const generated = (await import(join(FOLDER, name))) as Record<string, unknown>;
    for (const [exported, value] of Object.entries(generated)) {
      expect(EXPORTS[exported], exported).toBe(value);
    }
  },
);

test.each(Object.entries(SHIPPED_RPCS))("the service and the routes of %s", (fullName, rpcs) => {
  const name = fullName.slice("svc.iam.v1.".length);
  expect(EXPORTS[name]).toMatchObject({ typeName: fullName });
  for (const { rpc } of EXPORTS[`${name}Routes`] as { rpc: string }[]) {
    expect(rpcs.map((each) => `${fullName}/${each}`)).toContain(rpc);
  }
});
