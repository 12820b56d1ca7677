import { beforeAll, expect, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { asUser, LOGIN_CLIENT } from "../support/iam-service.ts";
import { me } from "./load.ts";
import type { Platform } from "./platform.ts";
import type { Replica } from "./replica.ts";

const ACCOUNTS = "/v1/iam/service-accounts";
const OWN = "urn:acme:iam";

/** The audiences of a platform whose service accounts get tokens for svc-iam itself. */
export const AUDIENCE = [LOGIN_CLIENT, OWN];

/** Service accounts at both replicas of a platform with `AUDIENCE`. */
export function testServiceAccounts(platform: Platform): void {
  const { replicas } = platform;
  const [first, second] = replicas;
  let owners: readonly string[];
  beforeAll(async () => {
    owners = await Promise.all(["ada", "ben", "cyd", "dan"].map(platform.addUser));
    for (const owner of owners) await platform.makeOwner(owner);
    // A check may be some seconds behind.
    await until("the owners are known at both", async () => {
      const calls = owners.flatMap((owner) =>
        replicas.map((at) => at.call("GET", ACCOUNTS, undefined, asUser(owner))),
      );
      return (await Promise.all(calls)).every(({ status }) => status === 200);
    });
  });

  let calls = 0;
  /** A call of an owner; each time of another one, since callers are limited. */
  async function call(at: Replica, method: string, path: string, body?: object) {
    const owner = owners[calls++ % owners.length] ?? "";
    return at.call(method, `${ACCOUNTS}${path}`, body, asUser(owner));
  }

  async function makeAccount(at: Replica): Promise<string> {
    const fields = { displayName: "Robot", audience: [OWN] };
    const { status, body } = await call(at, "POST", "", fields);
    expect(status).toBe(200);
    return body.id;
  }

  async function makeSecret(at: Replica, id: string) {
    const { status, body } = await call(at, "POST", `/${id}/keys`, {});
    expect(status).toBe(200);
    return { keyId: body.key.id as string, secret: body.secret as string };
  }

  /** Asks a replica for a token; undefined where it refuses. */
  async function tokenAt({ port }: Replica, id: string, secret: string) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/iam/oidc/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    });
    const body = (await response.json()) as { access_token?: string; error?: string };
    if (!response.ok) expect([response.status, body.error]).toEqual([401, "invalid_client"]);
    return response.ok ? { accessToken: String(body.access_token) } : undefined;
  }

  const isRefusedAtBoth = (token: { accessToken: string }) =>
    until("the token is refused at both", async () => {
      const statuses = await Promise.all(replicas.map((replica) => me(replica, token)));
      return statuses.every((status) => status === 401);
    });

  test("what is made at one counts at the other at once, and ends at both [IAM-38]", async () => {
    const id = await makeAccount(first);
    expect(await tokenAt(second, id, "svcsa_x")).toBeUndefined();
    const [old, next] = [await makeSecret(first, id), await makeSecret(second, id)];
    const [one, two] = [
      await tokenAt(second, id, old.secret),
      await tokenAt(first, id, next.secret),
    ];
    if (one === undefined || two === undefined) throw new Error("a token is refused");
    for (const replica of replicas) {
      expect([await me(replica, one), await me(replica, two)]).toEqual([200, 200]);
    }

    expect((await call(first, "DELETE", `/${id}/keys/${old.keyId}`)).status).toBe(200);
    expect(await tokenAt(second, id, old.secret)).toBeUndefined();
    await isRefusedAtBoth(one);
    expect(await me(second, two)).toBe(200);

    expect((await call(second, "POST", `/${id}:disable`, {})).status).toBe(200);
    expect(await tokenAt(first, id, next.secret)).toBeUndefined();
    await isRefusedAtBoth(two);
    expect((await call(first, "POST", `/${id}:enable`, {})).status).toBe(200);
    const again = await tokenAt(second, id, next.secret);
    if (again === undefined) throw new Error("a token is refused");
    expect(await me(first, again)).toBe(200);

    expect((await call(second, "DELETE", `/${id}`)).status).toBe(200);
    expect(await tokenAt(first, id, next.secret)).toBeUndefined();
    await isRefusedAtBoth(again);
  });

  test("of keys that are made at both at once, no more than ten are stored [IAM-33]", async () => {
    const id = await makeAccount(first);
    for (let count = 0; count < 8; count++) await makeSecret(replicas[count % 2] as Replica, id);
    const made = await Promise.all(
      [first, second, first, second].map((at) => call(at, "POST", `/${id}/keys`, {})),
    );
    expect(made.map(({ status }) => status).toSorted()).toEqual([200, 200, 412, 412]);
    const { body } = await call(second, "GET", `/${id}/keys`);
    expect(body.keys).toHaveLength(10);
  });
}
