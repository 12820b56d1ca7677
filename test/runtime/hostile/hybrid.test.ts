/** What the mode `hybrid` makes of a token and headers that do not say the same. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryRevocationList } from "../../../src/runtime/index.ts";
import { KeyServer } from "../authn/jwt/key-server.ts";
import { rsaKey, signToken } from "../authn/jwt/tokens.ts";
import { ALICE } from "./support/alice.ts";
import type { Field } from "./support/raw-http.ts";
import { expectRows } from "./support/send.ts";
import { nowSeconds, tokenSource } from "./support/tokens.ts";
import { startWorld, type World } from "./support/world.ts";

const NOBODY = "- 401 401 401 401";
const AS_ALICE = "alice alice alice 403 403";
const AS_BOB = "bob bob 403 403 403";
const BOB: readonly Field[] = [["X-Svc-External-Sub", "bob"]];

const issuer = new KeyServer();
const key = rsaKey("one");
const { claims, bearer } = tokenSource(() => issuer.url, key);
const ofAcme = (changes: Record<string, unknown> = {}) => bearer({ owner: "acme", ...changes });
const revocations = new MemoryRevocationList();
let world: World;

beforeAll(async () => {
  issuer.keys = [key.jwk];
  await issuer.start();
  const oidc = { allowed_owners: ["acme"] };
  world = await startWorld({ mode: "hybrid", issuer: issuer.url, revocations, oidc });
});
afterAll(async () => {
  await world.stop();
  await issuer.stop();
});

async function expectRow(row: string, fields: readonly Field[]): Promise<void> {
  await expectRows(world, row, { fields, from: "trusted" });
}

describe("a genuine token whose bearer is not let in", () => {
  const later = () => Date.now() + 600_000;

  test("a token that was revoked is not made up for by the headers that the gateway made of it", async () => {
    const fields = [...ALICE, ofAcme({ jti: "1" })];
    await expectRow(AS_ALICE, fields);
    revocations.revokeToken("1", later());
    await expectRow(NOBODY, fields);
    await expectRow(AS_ALICE, [...ALICE, ofAcme({ jti: "2" })]);
  });

  test("a caller whose tokens were all revoked comes in by none of them, seen before or not", async () => {
    const seen = [...BOB, ofAcme({ sub: "bob" })];
    await expectRow(AS_BOB, seen);
    revocations.revokeSubject("bob", later());
    await expectRow(NOBODY, seen);
    await expectRow(NOBODY, [...BOB, ofAcme({ sub: "bob", jti: "3" })]);
  });

  test("an owner that is not accepted is not accepted by way of the gateway either", async () => {
    for (const owner of ["evil", "", ["acme"], undefined]) {
      await expectRow(NOBODY, [...ALICE, bearer({ owner })]);
    }
  });
});

test("a token that proves nothing still leaves it to the headers [AUTHN-3]", async () => {
  const forged = signToken(rsaKey("one"), claims({ owner: "evil" }));
  const expired = bearer({ owner: "evil", iat: nowSeconds() - 7200, exp: nowSeconds() - 3600 });
  for (const field of [["Authorization", `Bearer ${forged}`] as const, expired]) {
    await expectRow(AS_ALICE, [...ALICE, field]);
  }
});

test("headers of the same caller add nothing to what the token says of it", async () => {
  await expectRow(AS_ALICE, [
    ...ALICE,
    ["X-Svc-Org-Id", "evil"],
    ["X-Svc-Roles", "admin"],
    ["X-Svc-Groups", "root"],
    ["X-Svc-Scopes", "all"],
    ["X-Svc-External-Email", "root@example.com"],
    ofAcme({ roles: ["viewer"] }),
  ]);
  expect(world.handled.at(-1)?.principal).toMatchObject({
    organizationId: "acme",
    roles: ["viewer"],
    groups: [],
    scopes: [],
    email: "",
    source: "jwt",
  });
});
