import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ServiceConfig } from "../../../src/runtime/configuration/service-config.ts";
import { StartUpError } from "../../../src/runtime/index.ts";
import { createAuthorizationEngine } from "../../../src/runtime/server/open-engine.ts";
import { vaultConfiguration } from "../support/vault-server.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-engine-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { config } = vaultConfiguration(folder, {}, {});
const { authz } = config.security;
const withAuthz = (change: object): ServiceConfig => {
  return { ...config, security: { ...config.security, authz: { ...authz, ...change } } };
};

test.each<[string, ServiceConfig, RegExp]>([
  [
    "no model",
    withAuthz({ model: undefined }),
    /^security\.authz\.model is missing: name the file of the model, or remove createAuthorizationEngine: without AUTHORIZED RPCs/,
  ],
  [
    "a missing model",
    withAuthz({ model: join(folder, "none.zed") }),
    /^security\.authz\.model: the model .*none\.zed does not exist; create it, or name another/,
  ],
  [
    "SpiceDB without its address",
    withAuthz({ provider: "spicedb", spicedb: undefined }),
    /^security\.authz\.spicedb is missing: the provider is spicedb$/,
  ],
  [
    "IAM without its address",
    withAuthz({ provider: "iam", iam: undefined }),
    /^security\.authz\.iam is missing: the provider is iam$/,
  ],
  [
    "a CA of IAM that cannot be read",
    withAuthz({
      provider: "iam",
      iam: { endpoint: "iam:1", token: "t".repeat(16), ca_file: join(folder, "none.pem") },
    }),
    /^security\.authz\.iam: ca_file \(.*none\.pem\) cannot be read$/,
  ],
  [
    "a missing token file of IAM",
    withAuthz({
      provider: "iam",
      iam: { endpoint: "iam:1", token_file: join(folder, "none"), insecure: true },
    }),
    /^security\.authz\.iam: .*none/,
  ],
  ["no database", { ...config, database: undefined }, /^database is missing: the embedded engine/],
])("an engine is not opened with %s, and it is said", async (_, given, problem) => {
  const error = await createAuthorizationEngine(given).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StartUpError);
  expect((error as StartUpError).problems).toEqual([expect.stringMatching(problem)]);
});

test("everything that an engine lacks is reported at once", async () => {
  const bare = { ...withAuthz({ model: undefined }), database: undefined };
  const error = await createAuthorizationEngine(bare).catch((thrown: unknown) => thrown);
  expect((error as StartUpError).problems).toEqual([
    expect.stringMatching(/^security\.authz\.model is missing/),
    expect.stringMatching(/^database is missing/),
  ]);
});

test("IAM need not be there when its engine is opened", async () => {
  const iam = { endpoint: "127.0.0.1:1", token: "t".repeat(16), insecure: true };
  const engine = await createAuthorizationEngine(withAuthz({ provider: "iam", iam }));
  expect(await engine.ready()).toEqual({
    ready: false,
    reason:
      "IAM at 127.0.0.1:1 cannot be reached (connection refused): check that it runs, and security.authz.iam.endpoint",
  });
  await engine.close();
});

test("an embedded engine is opened, and its store is unlocked once it is closed", async () => {
  for (let count = 0; count < 2; count++) {
    const engine = await createAuthorizationEngine(config);
    expect((await engine.ready()).reason).toBeUndefined();
    await engine.close();
  }
});
