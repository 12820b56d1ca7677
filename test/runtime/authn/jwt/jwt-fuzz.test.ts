import { afterAll, beforeAll, expect, test } from "vitest";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { runs } from "../../../support/effort.ts";
import { JwtWorld } from "./jwt-world.ts";

let world: JwtWorld;
beforeAll(async () => {
  world = await JwtWorld.create({}, {});
});
afterAll(() => world.close());

const ALPHABET =
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ {}"\0\n\u00e9';

/** The same numbers in each run (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function mutate(token: string, next: (below: number) => number): string {
  const at = next(token.length);
  const character = ALPHABET[next(ALPHABET.length)] as string;
  switch (next(8)) {
    case 0:
      return token.slice(0, at) + character + token.slice(at + 1);
    case 1:
      return token.slice(0, at) + token.slice(at + 1);
    case 2:
      return token.slice(0, at) + character + token.slice(at);
    case 3:
      return token.slice(0, at);
    case 4: {
      const parts = token.split(".");
      const [one, other] = [next(parts.length), next(parts.length)];
      [parts[one], parts[other]] = [parts[other] as string, parts[one] as string];
      return parts.join(".");
    }
    case 5: {
      // Changes a byte after the encoding, so that the form stays valid.
      const parts = token.split(".");
      const which = next(parts.length);
      const bytes = Buffer.from(parts[which] as string, "base64url");
      if (bytes.length > 0) bytes[next(bytes.length)] = next(256);
      parts[which] = bytes.toString("base64url");
      return parts.join(".");
    }
    case 6:
      return token + token.slice(at);
    default:
      return mutate(mutate(token, next), next);
  }
}

const ROUNDS = runs(20_000, 4_000);

test(`none of ${ROUNDS} mutated tokens is accepted, and only ServiceErrors are thrown`, async () => {
  const token = world.token({ jti: "fuzz", owner: "acme", scope: "openid" });
  expect(await world.outcome(token)).toBe("passed");
  const next = numbers(20_260_101);
  const codes = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const mutated = mutate(token, next);
    if (mutated === token) continue;
    const call = world.call(mutated);
    try {
      await world.run(call);
      expect.fail(`accepted: ${mutated}`);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
    }
    expect(call.principal).toBeUndefined();
  }
  expect([...codes.keys()]).toEqual(["UNAUTHORIZED"]);
  expect(world.server.keyReads).toBeLessThanOrEqual(2);
});
