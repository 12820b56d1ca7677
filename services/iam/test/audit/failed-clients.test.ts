/** What svc-iam records of clients and service accounts that do not authenticate, without what they sent. */
import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { importJWK, SignJWT } from "jose";
import { openAuditLog } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountCalls, must, OWN } from "../api/service-accounts/account-calls.ts";
import { type IamService, LOGIN_CLIENT, startIam } from "../support/iam-service.ts";

const TYPE = "client.authentication_failed";
const WEB = { id: randomUUID(), secret: randomBytes(32).toString("base64url") };
/** What was sent as a secret or an id, and must be nowhere. */
const WRONG = "what-somebody-guessed";
const OTHER = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEY = generateKeyPairSync("ec", { namedCurve: "P-256" });

let iam: IamService;
const calls = new AccountCalls(() => iam);
let account: string;
beforeAll(async () => {
  const redirect_uris = ["https://app.example.com/callback"];
  const web = { name: "Web", flows: ["code"], client_secret: WEB.secret, redirect_uris };
  iam = await startIam({
    oidc: { audience: [LOGIN_CLIENT, OWN] },
    iam: { clients: [{ id: WEB.id, ...web }] },
  });
  account = await calls.make();
  const publicKey = JSON.stringify(KEY.publicKey.export({ format: "jwk" }));
  must(await calls.call("POST", `/${account}/keys`, { publicKey }));
});
afterAll(() => iam.stop());

let seen = 0;
/** The events since the last look, the oldest first. */
async function fresh() {
  const log = await openAuditLog(iam.options.configuration);
  const { events } = await log.list({ type: TYPE }, { pageSize: 500 });
  await log.close();
  const some = events.slice(0, events.length - seen).reverse();
  seen = events.length;
  return some;
}

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
});
function send(fields: Record<string, string>, headers: Record<string, string> = {}, path = "") {
  const body = new URLSearchParams({ grant_type: "client_credentials", ...fields });
  return fetch(`${iam.origin}/v1/iam/oidc/token${path}`, { method: "POST", headers, body });
}
async function assertion(id: string, { privateKey } = KEY) {
  const client_assertion = await new SignJWT({ iss: id, sub: id, jti: randomUUID() })
    .setProtectedHeader({ alg: "ES256" })
    .setAudience(`${iam.origin}/v1/iam/oidc`)
    .setExpirationTime("1m")
    .sign(await importJWK(privateKey.export({ format: "jwk" }), "ES256"));
  const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  return { client_assertion, client_assertion_type };
}

test.each<[string, () => Promise<Response>, object, string?]>([
  [
    "a client with a wrong secret",
    () => send({}, basic(WEB.id, WRONG)),
    { client: WEB.id, method: "secret" },
  ],
  [
    "a client with a wrong secret in the form",
    () => send({ client_id: WEB.id, client_secret: WRONG }),
    { client: WEB.id, method: "secret" },
  ],
  [
    "a client without its secret",
    () => send({ client_id: WEB.id }),
    { client: WEB.id, method: "none" },
  ],
  ["a client that there is not", () => send({}, basic(WRONG, WEB.secret)), { method: "secret" }],
  [
    "a service account with an assertion of another key",
    async () => send(await assertion(account, OTHER)),
    { method: "assertion" },
    "account",
  ],
  [
    "a service account that there is not",
    async () => send(await assertion(WRONG)),
    { method: "assertion" },
  ],
  [
    "a client that introspects",
    () => send({ token: WRONG }, basic(WEB.id, WRONG), "/introspection"),
    { client: WEB.id, method: "secret" },
  ],
  [
    "a client that revokes",
    () => send({ token: WRONG }, basic(WEB.id, WRONG), "/revocation"),
    { client: WEB.id, method: "secret" },
  ],
])("%s is recorded [IDP-23]", async (_, attempt, details, isAccount) => {
  const response = await attempt();
  const answer = await response.json();
  expect([response.status, answer]).toMatchObject([401, { error: "invalid_client" }]);
  const events = await fresh();
  const ofAccount = isAccount === undefined ? {} : { client: account };
  expect(events.map(({ data }) => [data.risk_level, data.details])).toEqual([
    ["MEDIUM", { ...details, ...ofAccount }],
  ]);
  expect(events[0]?.subject).toBe(
    isAccount === undefined ? undefined : `service_account:${account}`,
  );
  for (const text of [WRONG, WEB.secret]) expect(JSON.stringify(events)).not.toContain(text);
});

test("an assertion that is used again is recorded, and neither the first use nor a bad grant is [IDP-23]", async () => {
  const once = await assertion(account);
  expect((await send(once)).status).toBe(200);
  const bad = { grant_type: "authorization_code", code: "x" };
  expect((await send(bad, basic(WEB.id, WEB.secret))).status).toBe(400);
  expect(await fresh()).toEqual([]);
  expect((await send(once)).status).toBe(401);
  expect((await fresh()).map(({ data }) => data.details)).toEqual([
    { client: account, method: "assertion" },
  ]);
});

test("a flood of them is a few events [IDP-23]", async () => {
  for (let count = 0; count < 30; count++) await send({}, basic(WEB.id, `${WRONG}${count}`));
  const events = await fresh();
  expect(events.length).toBeLessThanOrEqual(10);
});
