import { afterEach, expect, test } from "vitest";
import {
  ALICE,
  IamWithCasdoor,
  type IamWithCasdoorOptions,
} from "../../support/casdoor/iam-with-casdoor.ts";
import { REDIRECT_URI } from "../../support/iam-service.ts";

const EXTERNAL = "https://id.example.com";

const started: IamWithCasdoor[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

async function start(options: IamWithCasdoorOptions): Promise<IamWithCasdoor> {
  const it = await IamWithCasdoor.start(options);
  started.push(it);
  return it;
}

const loginUrl = (it: IamWithCasdoor) => {
  const query = new URLSearchParams({ redirect_uri: REDIRECT_URI, state: "s" });
  return it.iam.call("GET", `/v1/iam/login-url?${query}`);
};

test("browsers use the external address, and this service the internal one, also in production", async () => {
  const it = await start({ issuer: EXTERNAL, environment: "production" });
  expect(it.loginUrl.origin + it.loginUrl.pathname).toBe(`${EXTERNAL}/login/oauth/authorize`);
  const { accessToken } = await it.logIn();
  expect((await it.me(accessToken)).body).toMatchObject({ subjectId: ALICE.id });
  expect(new Set(it.casdoor.requests)).toEqual(
    new Set([
      "GET /.well-known/openid-configuration",
      "GET /login/oauth/authorize",
      "POST /api/login/oauth/access_token",
      "GET /.well-known/app-iam/jwks",
    ]),
  );
});

test("a login page without TLS is refused in production", async () => {
  const it = await start({ issuer: "http://id.example.com", environment: "production" });
  expect((await loginUrl(it)).body).toMatchObject({ status: 503, code: "UNAVAILABLE" });
});

test("a Casdoor that says it is another one is refused", async () => {
  const it = await start({ issuer: EXTERNAL, oidc: { issuer: "https://other.example.com" } });
  expect((await loginUrl(it)).body).toMatchObject({ status: 503, code: "UNAVAILABLE" });
});

test("security.authn.oidc.jwks_url replaces the key set of the application", async () => {
  const without = await start({});
  const jwks_url = `${without.casdoor.origin}/.well-known/jwks`;
  // The keys of another Casdoor.
  const it = await start({ oidc: { jwks_url } });
  expect((await it.exchange(await it.callback())).body.code).toBe("UNAVAILABLE");
  expect(it.casdoor.requests).not.toContain("GET /.well-known/app-iam/jwks");
  expect(without.casdoor.requests).toContain("GET /.well-known/jwks");
});
