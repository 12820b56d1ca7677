import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "svc-access/runtime";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../test/support/free-port.ts";
import { loadIamConfig } from "../src/config/load-iam-config.ts";
import { openIam } from "../src/server.ts";

test("svc-iam starts, and serves health, its provider and IAMAuthService", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-iam-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const port = await freePort();
  const model = join(import.meta.dirname, "../../../model/iam.zed");
  const file = join(folder, "service.yaml");
  writeFileSync(
    file,
    `environment: development
service: iam
server:
  http: { address: "127.0.0.1:${port}" }
security:
  authn:
    mode: hybrid
    provider: embedded
    oidc:
      issuer: http://localhost:${port}/v1/iam/oidc
      audience: [4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1]
    internal_call: { enabled: true, token: an-internal-token-of-development-only }
  authz: { provider: embedded, model: "${model}" }
database: { driver: sqlite, file: "${join(folder, "iam.db")}" }
iam:
  organization: acme
  public_url: http://localhost:${port}
  login:
    client_id: 4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1
    redirect_uris: ["http://localhost:3001/callback"]
`,
  );
  const server = await createServer(await openIam(loadIamConfig(file)));
  await server.start();
  onTestFinished(() => server.stop());
  const get = async (path: string) => (await fetch(`http://localhost:${port}${path}`)).status;
  expect(await get("/healthz")).toBe(200);
  expect(await get("/v1/iam/oidc/.well-known/openid-configuration")).toBe(200);
  expect(await get("/v1/iam/me")).toBe(401);
  const login = await fetch(
    `http://localhost:${port}/v1/iam/login-url?redirect_uri=http://localhost:3001/callback&state=s&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM`,
  );
  expect(login.status).toBe(200);
});
