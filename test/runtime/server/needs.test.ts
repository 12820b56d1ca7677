/** The configuration that a service needs for its exposures, and the errors if some is missing. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isForDevelopment } from "../../../src/runtime/configuration/service-config.ts";
import {
  type AccessPolicy,
  createLogger,
  createServer,
  type ServiceBinding,
  StartUpError,
} from "../../../src/runtime/index.ts";
import { EchoService } from "../grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import { INTERNAL_TOKEN, SYSTEM_TOKEN, vaultConfiguration } from "../support/vault-server.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-needs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TOKENS = { token: [{ service: "hub", token: INTERNAL_TOKEN }], system_token: SYSTEM_TOKEN };
const PEERS = { gateway: { trusted_peers: ["10.0.0.0/8"] } };
const AUTHZ = { action: "view", audience: "user", mode: "CHECK_ONLY" } as const;
const AUTHORIZED: AccessPolicy = {
  exposure: "AUTHORIZED",
  publish: false,
  authz: { ...AUTHZ, resource: { type: "document", id: "*" } } as never,
};
const policy = (exposure: "PUBLIC" | "INTERNAL" | "SYSTEM"): AccessPolicy => {
  return { exposure, publish: false };
};

/** A service whose RPCs have these policies in order. */
function echoWith(...policies: readonly AccessPolicy[]): ServiceBinding {
  const { methods, typeName } = EchoService;
  return {
    formatVersion: 1,
    service: EchoService,
    policies: Object.fromEntries(
      methods.map(({ name }, index) => {
        return [`${typeName}/${name}`, policies[index % policies.length] as AccessPolicy];
      }),
    ),
    routes: [],
    handlers: Object.fromEntries(methods.map(({ localName }) => [localName, () => ({})])),
  };
}

/** Starts a service in production without model and database, and returns its log. */
async function start(binding: ServiceBinding, internalCall: object | undefined, authz = {}) {
  const authn = { ...PEERS, internal_call: internalCall };
  const config = { environment: "production", server: { grpc: { address: "127.0.0.1:0" } } };
  const loaded = vaultConfiguration(folder, { authn, authz }, config);
  const { model: _model, ...rest } = loaded.config.security.authz;
  const { database: _database, ...others } = loaded.config;
  const security = { ...others.security, authz: rest };
  const lines: string[] = [];
  const server = await createServer({
    configuration: { ...loaded, config: { ...others, security } },
    bindings: [binding],
    logger: createLogger({ destination: { write: (line: string) => void lines.push(line) } }),
  });
  expect(isForDevelopment(loaded.config)).toBe(false);
  expect(server.engine).toBeUndefined();
  await server.start();
  await server.stop();
  const warnings = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
  return warnings.map(({ message }) => message as string);
}

describe("without AUTHORIZED RPCs a service starts without model, engine and database", () => {
  test.each([
    ["PUBLIC", echoWith(policy("PUBLIC")), undefined],
    ["INTERNAL", echoWith(policy("INTERNAL")), { enabled: true, ...TOKENS }],
    [
      "all three",
      echoWith(policy("PUBLIC"), policy("INTERNAL"), policy("SYSTEM")),
      { enabled: true, ...TOKENS },
    ],
  ])("%s", async (_, binding, internalCall) => {
    expect(await start(binding, internalCall)).toEqual([]);
  });
});

describe("a start warns about RPCs that no caller can call", () => {
  const all = echoWith(policy("INTERNAL"), policy("SYSTEM"));
  const { system_token: _, ...withoutSystem } = TOKENS;
  test.each([
    [
      "no internal calls",
      undefined,
      [/Echo.* is INTERNAL, without .*enabled$/, /is SYSTEM, without .*enabled$/],
    ],
    [
      "no system token",
      { enabled: true, ...withoutSystem },
      [/is SYSTEM, without .*system_token$/],
    ],
    [
      "only a system token",
      { enabled: true, system_token: SYSTEM_TOKEN },
      [/is INTERNAL, without .*internal_call\.token$/],
    ],
  ])("%s", async (_, internalCall, said) => {
    const warnings = await start(all, internalCall);
    expect(warnings).toEqual(said.map((one) => expect.stringMatching(one)));
  });
});

test("with an AUTHORIZED RPC, everything that its engine lacks is reported at once, with the RPC", async () => {
  const error = await start(echoWith(policy("PUBLIC"), AUTHORIZED), undefined).catch(
    (error) => error,
  );
  expect(error).toBeInstanceOf(StartUpError);
  expect((error as StartUpError).problems).toEqual([
    expect.stringMatching(
      /^fixture\.v1\.EchoService\/\w+.* must be authorized, but security\.authz\.model is missing/,
    ),
    expect.stringMatching(/must be authorized, but database is missing: the embedded engine/),
  ]);
});
