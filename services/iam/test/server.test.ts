import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as client from "openid-client";
import type { ServiceDatabase } from "svc-access/database";
import { createServer } from "svc-access/runtime";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../../../test/support/free-port.ts";
import { pending } from "../../../test/support/pending.ts";
import { loadIamConfig } from "../src/config/load-iam-config.ts";
import type { UserTables } from "../src/ground/store/user-tables.ts";
import { LocalAccounts } from "../src/people/accounts/local-accounts.ts";
import { PasswordHasher } from "../src/people/accounts/passwords/password-hasher.ts";
import { FailedAttempts } from "../src/people/accounts/throttle/failed-attempts.ts";
import { LogoutNotices } from "../src/provider/embedded/logout-notices.ts";
import { openIam } from "../src/server.ts";
import { Browser } from "./support/browser.ts";
import { PASSWORD } from "./support/memory-accounts.ts";
import { CALLBACK, CONSOLE, logIn } from "./support/provider-server.ts";
import { stackSections } from "./support/stack.ts";

test("svc-iam serves logins, and refuses the token of one that has ended, within a second [IDP-22]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-iam-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const port = await freePort();
  const model = join(import.meta.dirname, "../../../model/iam.zed");
  const stack = await stackSections(model);
  const file = join(folder, "service.yaml");
  writeFileSync(
    file,
    `environment: development
service: iam
server:
  http: { address: "127.0.0.1:${port}" }
  grpc: null
  metrics: null
security:
  authn:
    mode: hybrid
    provider: embedded
    oidc:
      issuer: http://localhost:${port}/v1/iam/oidc
      audience: [4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1, ${CONSOLE.id}]
    internal_call: { enabled: true, token: an-internal-token-of-development-only }
  authz: ${JSON.stringify({ model, ...stack.authz })}
database: ${JSON.stringify(stack.database)}
iam:
  organization: acme
  public_url: http://localhost:${port}
  login:
    client_id: 4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1
    redirect_uris: ["http://localhost:3001/callback"]
  clients:
    - id: ${CONSOLE.id}
      name: Console
      flows: [code]
      client_secret: ${CONSOLE.secret}
      redirect_uris: ["${CALLBACK}"]
      ask_consent: false
`,
  );
  const options = await openIam(loadIamConfig(file));
  const server = await createServer(options);
  await server.start();
  onTestFinished(() => server.stop());
  const get = async (path: string) => (await fetch(`http://localhost:${port}${path}`)).status;
  expect(await get("/healthz")).toBe(200);
  expect(await get("/v1/iam/oidc/.well-known/openid-configuration")).toBe(200);
  expect(await get("/v1/iam/me")).toBe(401);
  // The edge has them.
  for (const path of ["/v1/iam/ui/login", "/v1/iam/oauth2/callback", "/v1/iam/logout"]) {
    expect(await get(path)).toBe(404);
  }
  // Each of these requests stores something, however it is spelled.
  const limited = await fetch(`http://localhost:${port}/v1/iam/oidc/interaction/none`);
  expect(limited.headers.get("ratelimit-limit")).toBe("200");
  expect(options.routes?.paths).toContainEqual(
    expect.objectContaining({ path: "/v1/iam/oidc/auth", rateLimit: { qps: 50, burst: 200 } }),
  );
  expect(await get("/v1/iam/oidc/auth")).toBe(400);
  const limitedForms = { device: 403, "session/end": 415, "session/end/confirm": 303 };
  for (const [path, status] of Object.entries(limitedForms)) {
    const init = { method: "POST", redirect: "manual" } as const;
    const answer = await fetch(`http://localhost:${port}/v1/iam/oidc/${path}`, init);
    expect([answer.status, answer.headers.get("ratelimit-limit")], path).toEqual([status, "200"]);
  }
  const long = "x".repeat(4097);
  expect(await get(`/v1/iam/oidc/session/end?state=${long}`)).toBe(400);
  expect(await get(`/v1/iam/oidc/session/end?state=${long.slice(1)}`)).toBe(200);
  const others = ["DEVICE", "device/", "Session/end", "session/END", "session/end/", "DEVICE/x"];
  for (const path of ["AUTH", "auth/", "Auth/", ...others]) {
    expect(await get(`/v1/iam/oidc/${path}`), path).toBe(404);
  }
  const login = await fetch(
    `http://localhost:${port}/v1/iam/login-url?redirect_uri=http://localhost:3001/callback&state=s&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM`,
  );
  expect(login.status).toBe(200);

  const { kysely } = options.database as ServiceDatabase<UserTables>;
  const passwordHash = await new PasswordHasher().hash(PASSWORD, new AbortController().signal);
  await new LocalAccounts(kysely, "acme").create({
    username: "alice",
    displayName: "Alice",
    email: "alice@example.com",
    passwordHash,
  });
  const issuer = new URL(`http://localhost:${port}/v1/iam/oidc`);
  const execute = [client.allowInsecureRequests];
  const secret = client.ClientSecretBasic(CONSOLE.secret);
  const web = await client.discovery(issuer, CONSOLE.id, undefined, secret, { execute });
  const tokens = await logIn(web, new Browser(issuer.origin));
  const me = async () => {
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    return (await fetch(`http://localhost:${port}/v1/iam/me`, { headers })).status;
  };
  expect(await me()).toBe(200);
  await client.tokenRevocation(web, tokens.refresh_token ?? "");
  await expect
    .poll(me, { message: "the token of the ended login is refused", interval: 20 })
    .toBe(401);

  // Notices that take long leave the time of the end to the audit.
  const sent = pending();
  vi.spyOn(LogoutNotices.prototype, "close").mockReturnValue(sent.promise);
  const recorded = pending();
  vi.spyOn(FailedAttempts.prototype, "close").mockImplementation(async () => recorded.resolve());
  onTestFinished(() => void vi.restoreAllMocks());
  const stopped = server.stop();
  expect(await Promise.race([recorded.promise.then(() => "recorded"), stopped])).toBe("recorded");
  sent.resolve();
  await stopped;
});
