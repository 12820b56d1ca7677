/** Changes that a handler makes to its arguments are visible to no other call. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallContext, Principal } from "../../../src/runtime/index.ts";
import { KeyServer } from "../authn/jwt/key-server.ts";
import { rsaKey } from "../authn/jwt/tokens.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { INTERNAL_TOKEN, SYSTEM_TOKEN } from "../support/vault-server.ts";
import { ALICE } from "./support/alice.ts";
import { type Field, requestText, sendText } from "./support/raw-http.ts";
import { tokenSource } from "./support/tokens.ts";
import { startWorld, type World } from "./support/world.ts";

const issuer = new KeyServer();
const key = rsaKey("one");
const { bearer } = tokenSource(() => issuer.url, key);
let world: World;
/** Each caller as the handler received it, before its changes. */
const found: Principal[] = [];

beforeAll(async () => {
  issuer.keys = [key.jwk];
  await issuer.start();
  const handlers = {
    ...vaultHandlers(),
    async getProfile(_: unknown, { principal }: CallContext) {
      found.push(structuredClone(principal) as Principal);
      for (const list of ["roles", "groups", "scopes"] as const) {
        attempt(() => (principal?.[list] as string[]).push("admin"));
      }
      attempt(() => Object.assign(principal as Principal, { organizationId: "evil" }));
      attempt(() => Object.assign(principal as Principal, { subjectId: "root" }));
      return { subjectId: "", subjectType: "", source: "", echo: "" };
    },
  };
  const bindings = [bindVaultService(handlers)];
  world = await startWorld({ mode: "hybrid", issuer: issuer.url, bindings });
});
afterAll(async () => {
  await world.stop();
  await issuer.stop();
});

/** Frozen objects throw an error when they are changed. */
function attempt(change: () => unknown): void {
  try {
    change();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
  }
}

test.each<[string, () => readonly Field[]]>([
  ["the gateway", () => ALICE],
  ["the gateway, by claims", () => [["X-Svc-External-Sub", "alice"]]],
  [
    "the gateway, with roles",
    () => [...ALICE, ["X-Svc-Roles", "viewer"], ["X-Svc-Groups", '["a"]']],
  ],
  [
    "a token",
    () => {
      const field = bearer({ roles: ["viewer"] });
      return [field];
    },
  ],
  ["an internal token", () => [["X-Svc-Internal-Token", INTERNAL_TOKEN]]],
  ["the system token", () => [["X-Svc-Internal-Token", SYSTEM_TOKEN]]],
])("a caller by %s is the same again", async (_name, fieldsOf) => {
  const fields = fieldsOf();
  const call = async (sent: readonly Field[]) => {
    await sendText(world.port("http", "trusted"), requestText("GET /v1/profile", sent));
    return found.at(-1);
  };
  const first = await call(fields);
  expect(first?.roles).not.toContain("admin");
  expect(await call(fields)).toEqual(first);
  // Another caller without roles gets none.
  expect(await call([["X-Svc-External-Sub", "bob"]])).toMatchObject({
    subjectId: "bob",
    organizationId: "",
    roles: [],
    groups: [],
    scopes: [],
  });
});
