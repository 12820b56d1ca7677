/** Forged identities, in every mode, for every exposure, over every protocol. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeyServer } from "../../authn/jwt/key-server.ts";
import { rsaKey } from "../../authn/jwt/tokens.ts";
import { WIRE_NAMES, WIRES } from "../../support/wire/protocols.ts";
import { expectRows } from "../support/send.ts";
import { tokenSource } from "../support/tokens.ts";
import { MODES, type Mode, startWorld, type World } from "../support/world.ts";
import { ALICE, CASES, NOBODY, userId, verified } from "./identity-cases.ts";

const issuer = new KeyServer();
const key = rsaKey("one");
const worlds = new Map<Mode, World>();

beforeAll(async () => {
  issuer.keys = [key.jwk];
  await issuer.start();
  for (const mode of MODES) worlds.set(mode, await startWorld({ mode, issuer: issuer.url }));
});
afterAll(async () => {
  for (const world of worlds.values()) await world.stop();
  await issuer.stop();
});

describe.each(MODES)("in mode %s", (mode) => {
  test.each(Object.entries(CASES))("%s", async (_title, { fields, from, comes, only }) => {
    const row = typeof comes === "string" ? comes : comes[mode];
    const sent = { fields, ...(from === undefined ? {} : { from }) };
    const ways = WIRE_NAMES.filter((name) => only === undefined || only === WIRES[name].version);
    await expectRows(worlds.get(mode) as World, row, sent, ways);
  });
});

describe("10 a JWT of one user and headers of another", () => {
  const { bearer } = tokenSource(() => issuer.url, key);
  const bob = [verified, userId("bob")];
  test.each([
    ["gateway_trusted", "trusted", "bob bob 403 403 403"],
    ["gateway_trusted", "stranger", NOBODY],
    ["idp_jwt", "trusted", ALICE],
    ["idp_jwt", "stranger", ALICE],
    ["hybrid", "trusted", NOBODY],
    ["hybrid", "stranger", ALICE],
  ] as const)("10 in mode %s from a %s", async (mode, from, comes) => {
    await expectRows(worlds.get(mode) as World, comes, { fields: [...bob, bearer()], from });
  });

  test("10 hybrid accepts both if they identify the same user", async () => {
    const fields = [verified, userId("alice"), bearer()];
    const world = worlds.get("hybrid") as World;
    const before = world.handled.length;
    await expectRows(world, ALICE, { fields, from: "trusted" });
    const sources = world.handled.slice(before).map(({ principal }) => principal?.source);
    expect(new Set(sources)).toEqual(new Set(["jwt"]));
  });
});
