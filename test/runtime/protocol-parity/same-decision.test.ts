/**
 * The same call has the same outcome over every protocol: the decision, the request and response of
 * the handler, the audit event, and the error, in the form of each protocol.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runs } from "../../support/effort.ts";
import { KeyServer } from "../authn/jwt/key-server.ts";
import { ecKey } from "../authn/jwt/tokens.ts";
import { tokenSource } from "../hostile/support/tokens.ts";
import { MODES, type Mode } from "../hostile/support/world.ts";
import { CASES, type Case, EXAMPLES } from "./cases.ts";
import { observeAll } from "./observe.ts";
import { type ScriptedVault, startScriptedVault } from "./scripted-vault.ts";

const issuer = new KeyServer();
const key = ecKey("one");
const tokens = tokenSource(() => issuer.url, key);
const vaults = new Map<Mode, ScriptedVault>();

beforeAll(async () => {
  issuer.keys = [key.jwk];
  await issuer.start();
  for (const mode of MODES) vaults.set(mode, await startScriptedVault(mode, issuer.url));
});
afterAll(async () => {
  for (const { world } of vaults.values()) await world.stop();
  await issuer.stop();
});

const OUTCOMES = [
  "served",
  "handled",
  "audited",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "INVALID_ARGUMENT",
  "INTERNAL",
];

/** Each case is one call per protocol. */
const RUNS = runs(200, 40);

it("a call has the same outcome over every protocol [CHAIN-3, TRANS-2]", {
  timeout: 600_000,
}, async () => {
  const seen = new Map<string, number>();
  const property = fc.asyncProperty(CASES, async (one) => {
    const observed = await observeAll(vaults.get(one.mode) as ScriptedVault, tokens, one);
    const [first] = Object.values(observed);
    const { reported, audited, handled } = first as NonNullable<typeof first>;
    expect(observed).toEqual(
      Object.fromEntries(Object.keys(observed).map((name) => [name, first])),
    );
    if (reported === "served") expect(handled).toHaveLength(1);
    for (const what of [
      reported,
      audited.length > 0 ? "audited" : "",
      handled.length > 0 ? "handled" : "",
    ]) {
      seen.set(what, (seen.get(what) ?? 0) + 1);
    }
  });
  const examples = EXAMPLES.map((one): [Case] => [one]);
  await fc.assert(property, { numRuns: RUNS, examples });
  for (const what of OUTCOMES) expect(seen.get(what) ?? 0, what).toBeGreaterThan(0);
});
