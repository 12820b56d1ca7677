/** Identities that callers give themselves, in every mode, on every exposure, over both transports. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeyServer } from "../authn/key-server.ts";
import { rsaKey } from "../authn/tokens.ts";
import { ALICE, CASES, NOBODY, userId, verified } from "./identity-cases.ts";
import { expectedRow, outcomeRow, TRANSPORTS } from "./support/send.ts";
import { tokenSource } from "./support/tokens.ts";
import { MODES, type Mode, startWorld, type World } from "./support/world.ts";

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
    const row = expectedRow(typeof comes === "string" ? comes : comes[mode]);
    const world = worlds.get(mode) as World;
    for (const transport of TRANSPORTS) {
      if (only !== undefined && only !== transport) continue;
      const sent = { fields, ...(from === undefined ? {} : { from }) };
      expect({ transport, ...(await outcomeRow(world, transport, sent)) }).toEqual({
        transport,
        ...row,
      });
    }
  });
});

describe("10 a JWT for one and a header for another", () => {
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
    const world = worlds.get(mode) as World;
    for (const transport of TRANSPORTS) {
      const fields = [...bob, bearer()];
      expect(await outcomeRow(world, transport, { fields, from })).toEqual(expectedRow(comes));
    }
  });

  test("10 hybrid takes them together where they mean the same one", async () => {
    const fields = [verified, userId("alice"), bearer()];
    const world = worlds.get("hybrid") as World;
    expect(await outcomeRow(world, "http", { fields, from: "trusted" })).toEqual(
      expectedRow(ALICE),
    );
    expect(world.handled.at(-1)?.principal?.source).toBe("jwt");
  });
});
