/** The mode `hybrid` with a token and headers that differ. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryRevocationList } from "../../../../src/runtime/index.ts";
import { KeyServer } from "../../authn/jwt/key-server.ts";
import { rsaKey, signToken } from "../../authn/jwt/tokens.ts";
import { ALICE } from "../support/alice.ts";
import type { Field } from "../support/raw-http.ts";
import { expectRows } from "../support/send.ts";
import { nowSeconds, tokenSource } from "../support/tokens.ts";
import { startWorld, type World } from "../support/world.ts";

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

describe("a genuine token whose bearer is refused", () => {
  const later = () => Date.now() + 600_000;

  test("a revoked token is refused even with headers that the gateway derived from it", async () => {
    const fields = [...ALICE, ofAcme({ jti: "1" })];
    await expectRow(AS_ALICE, fields);
    revocations.revokeToken("1", later());
    await expectRow(NOBODY, fields);
    await expectRow(AS_ALICE, [...ALICE, ofAcme({ jti: "2" })]);
  });

  test("a caller whose tokens were all revoked is refused with each of them, cached or not", async () => {
    const seen = [...BOB, ofAcme({ sub: "bob" })];
    await expectRow(AS_BOB, seen);
    revocations.revokeSubject("bob", later());
    await expectRow(NOBODY, seen);
    await expectRow(NOBODY, [...BOB, ofAcme({ sub: "bob", jti: "3" })]);
  });

  test("an owner that is not allowed is refused through the gateway as well", async () => {
    for (const owner of ["evil", "", ["acme"], undefined]) {
      await expectRow(NOBODY, [...ALICE, bearer({ owner })]);
    }
  });
});

test("with an invalid token the headers are used [AUTHN-3]", async () => {
  const forged = signToken(rsaKey("one"), claims({ owner: "evil" }));
  const expired = bearer({ owner: "evil", iat: nowSeconds() - 7200, exp: nowSeconds() - 3600 });
  for (const field of [["Authorization", `Bearer ${forged}`] as const, expired]) {
    await expectRow(AS_ALICE, [...ALICE, field]);
  }
});

test("headers of the same caller add nothing to the claims of the token", async () => {
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
