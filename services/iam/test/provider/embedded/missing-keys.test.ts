/** A replica whose key file lacks a key that another replica encrypts with. */
import { createHash, randomBytes } from "node:crypto";
import * as client from "openid-client";
import { afterEach, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { MissingKeyError, SecretBox } from "../../../src/ground/secrets/secret-box.ts";
import { Browser } from "../../support/browser.ts";
import { stackDatabase } from "../../support/databases.ts";
import {
  CONSOLE,
  KEYS,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

afterEach(stopAll);

/** One with both keys, and one that lacks the key of the other. */
async function replicas() {
  const at = await stackDatabase();
  const fresh = randomBytes(32).toString("base64");
  const keys = EncryptionKeys.parse(`${fresh}\n${KEYS}`);
  const one = await startProvider({ at, box: new SecretBox(keys) });
  return { one, start: () => startProvider({ at, publicUrl: one.origin }), keyId: keys.first.id };
}

/** A replica has another address than its issuer here. */
const keySetOf = (iam: RunningProvider) => fetch(`${iam.origin}/v1/iam/oidc/jwks`);

function refreshAt(iam: RunningProvider, token = "") {
  const basic = Buffer.from(`${CONSOLE.id}:${CONSOLE.secret}`).toString("base64");
  return fetch(`${iam.origin}/v1/iam/oidc/token`, {
    method: "POST",
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: token }),
  });
}

function lookForKeys(iam: RunningProvider) {
  const job = iam.provider.jobs().find(({ name }) => name === "provider_keys");
  return job?.run(new AbortController().signal);
}

test("does not start with signing keys that it cannot read, and the error names the key", async () => {
  const { one, start, keyId } = await replicas();
  await one.provider.load();
  const other = await start();
  await expect(other.provider.load()).rejects.toThrow(MissingKeyError);
  await expect(other.provider.load()).rejects.toThrow(`the key ${keyId}, which is not in`);
});

test("gives no key set that lacks a key, and is not ready", async () => {
  const { one, start, keyId } = await replicas();
  const other = await start();
  // Its keys are sealed with the key that both have.
  await other.provider.load();
  expect((await keySetOf(one)).status).toBe(200);
  expect((await keySetOf(other)).status).toBe(200);
  await one.provider.rotateSigningKey({ isUrgent: true });
  await expect(other.provider.keySet()).rejects.toThrow(`the key ${keyId}, which is not in`);
  await expect(lookForKeys(other)).rejects.toThrow(MissingKeyError);
  expect((await keySetOf(other)).status).toBe(503);
  expect(other.provider.problem).toContain("an encryption key is missing");
  expect((await keySetOf(one)).status).toBe(200);
  expect(one.provider.problem).toBeUndefined();
});

test("answers a refresh with 503, names the key in its log, and the login continues elsewhere", async () => {
  const { one, start, keyId } = await replicas();
  const other = await start();
  await other.provider.load();
  const configuration = await one.configure(CONSOLE);
  const tokens = await logIn(configuration, new Browser(one.origin));
  const refused = await refreshAt(other, tokens.refresh_token);
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    { error: "temporarily_unavailable" },
  ]);
  expect(JSON.stringify(other.server.logLines())).toContain(`the key ${keyId}, which is not in`);
  const next = await client.refreshTokenGrant(configuration, tokens.refresh_token ?? "");
  expect(next.access_token).toBeDefined();
});

test("answers a form that another replica has sealed with 409, and names the key in its log", async () => {
  const { one, start, keyId } = await replicas();
  const other = await start();
  await other.provider.load();
  const cookie = "iam_session=a-session-of-a-browser";
  const browser = createHash("sha256").update("a-session-of-a-browser").digest("base64url");
  const form_token = one.provider.forms.issue({ form: "device", browser });
  const send = (iam: RunningProvider, token: string) =>
    fetch(`${iam.origin}/v1/iam/oidc/device`, {
      method: "POST",
      headers: { cookie, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ form_token: token, user_code: "BBBB-BBBB" }),
    });
  expect((await send(other, "x")).status).toBe(403);
  for (let count = 0; count < 3; count++) {
    expect((await send(other, form_token)).status).toBe(409);
  }
  expect(other.logged.filter((line) => line.includes(`{"key":"${keyId}"}`))).toEqual([
    expect.stringContaining("an encryption key that a replica has, or had, is missing"),
  ]);
  expect((await send(one, form_token)).status).not.toBe(409);
});
