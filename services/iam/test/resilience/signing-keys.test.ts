/** The signing keys of two replicas in processes of their own, rotated by a third one while people act. */
import { generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IS_THOROUGH, runs } from "../../../../test/support/effort.ts";
import { until } from "../../../../test/support/until.ts";
import { type LoggedIn, logInAt } from "../support/log-in-at.ts";
import { startFollowingService } from "./following-service.ts";
import { me, underLoad } from "./load.ts";
import { onPlatform, PASSWORD, startPlatform } from "./platform.ts";
import type { Replica } from "./replica.ts";
import { openStoredKeys } from "./stored-keys.ts";

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
/** Keys are rotated faster here than they are published in production. */
const oidc = { jwks_cache_ttl_ns: 1_000_000_000 };

// The tests of the provider rotate keys over connections of their own, in one process.
const platform = IS_THOROUGH ? await startPlatform({ oidc }) : undefined;
afterAll(() => platform?.stop());

const kidOf = ({ accessToken }: Pick<LoggedIn, "accessToken">) =>
  decodeProtectedHeader(accessToken).kid;

async function kidsAt({ port }: Replica): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/iam/oidc/jwks`);
  const { keys } = (await response.json()) as { readonly keys: { readonly kid: string }[] };
  return keys.map(({ kid }) => kid);
}

/** A token like another one, signed by a key of one's choice, that has just been issued. */
async function forged(like: LoggedIn, key: object | KeyObject, kid = ""): Promise<LoggedIn> {
  const now = Math.floor(Date.now() / 1000);
  const accessToken = await new SignJWT({
    ...decodeJwt(like.accessToken),
    jti: randomUUID(),
    iat: now,
    exp: now + 300,
  })
    .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid })
    .sign(key as KeyObject);
  return { ...like, accessToken };
}

onPlatform("the signing keys of two replicas", platform, (platform) => {
  const { replicas, origin, addUser } = platform;
  let stored: Awaited<ReturnType<typeof openStoredKeys>>;
  let service: Awaited<ReturnType<typeof startFollowingService>>;
  const logIn = () => logInAt(platform, "alice", PASSWORD);
  const everywhere = async (tokens: LoggedIn) => {
    const places = [...replicas, service];
    return Promise.all(places.map((at) => me(at as Pick<Replica, "call">, tokens)));
  };
  const isPublished = async (kids: readonly string[]) => {
    const found = await Promise.all(replicas.map(kidsAt));
    return found.every((at) => at.length === kids.length && kids.every((kid) => at.includes(kid)));
  };

  beforeAll(async () => {
    await addUser("alice");
    stored = await openStoredKeys(platform);
    service = await startFollowingService(origin, replicas[0], { oidc });
    const tokens = await logIn();
    await until("it has the revocations", async () => (await me(service as never, tokens)) === 200);
  });
  afterAll(async () => {
    await service.stop();
    await stored.close();
  });

  test("are rotated under load: no call is refused, no wrong token accepted, and retired keys vanish [IDP-13]", () =>
    underLoad(platform, async ({ more, renewed }) => {
      const [first] = await stored.keys.load();
      const old = await logIn();
      expect(kidOf(old)).toBe(first?.kid);
      let latest = old;
      // The key of the second one was published a moment before.
      for (let rotation = 0; rotation < runs(5, 2); rotation++) {
        await stored.pass("next", "create_time", 16 * MINUTE);
        const rotated = await stored.keys.rotate();
        if (rotated.outcome !== "rotated") throw new Error("the next key is too young");
        const kids = (await stored.keys.load()).map(({ kid }) => kid);
        await until("both replicas publish the keys", () => isPublished(kids));
        await more(40);
        const next = await logIn();
        expect(kidOf(next)).toBe(rotated.current);
        // Those that a retired key has signed count as well.
        for (const tokens of [old, latest, next]) {
          expect(await everywhere(tokens)).toEqual([200, 200, 200]);
        }
        latest = next;
      }

      const signing = await importJWK({ ...first }, "RS256");
      const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
      for (const kid of [kidOf(latest), first?.kid, "unknown", ""]) {
        expect(await everywhere(await forged(latest, stranger, kid))).toEqual([401, 401, 401]);
      }
      // A retired key is published as long as something that it signed may count.
      expect(await everywhere(await forged(latest, signing, first?.kid))).toEqual([200, 200, 200]);
      // The days that pass for the keys do not pass for the tokens of those who act.
      await renewed();
      await stored.pass("retired", "retire_time", 32 * DAY);
      await stored.keys.maintain();
      const left = (await stored.keys.load()).map(({ kid }) => kid);
      expect(left).toHaveLength(2);
      expect(left).not.toContain(first?.kid);
      await until("both replicas publish those that are left", () => isPublished(left));
      const late = await forged(latest, signing, first?.kid);
      await until("its key is forgotten", async () =>
        (await everywhere(late)).every((status) => status === 401),
      );
      expect(await everywhere(late)).toEqual([401, 401, 401]);
      expect(await everywhere(latest)).toEqual([200, 200, 200]);
      await more(40);
    }));
});
