/** What a browser and a program get at paths without a page, and by methods that a page does not have. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import german from "../../src/pages/messages/de.json" with { type: "json" };
import { startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { startTwoServices } from "../support/two-services.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "accept-language": "de" };
const ACCOUNT = "/v1/iam/oidc/account";

let iam: IamService;
beforeAll(async () => {
  iam = await startSelf({ authn: { mode: "hybrid" }, logLevel: "silent" });
});
afterAll(() => iam.stop());

const send = (path: string, init: RequestInit, at = iam) =>
  fetch(`${at.origin}${path}`, { redirect: "manual", ...init });

async function expectPage(response: Response): Promise<void> {
  const page = await response.text();
  expect([response.status, response.headers.get("content-type")]).toEqual([
    404,
    "text/html; charset=utf-8",
  ]);
  expect(page).toContain(german["There is no such page"]);
  expect(page).toContain(`Anfrage: <code>${response.headers.get("x-request-id")}</code>`);
}

describe.each([
  "/v1/iam/ui",
  "/v1/iam/ui/",
  "/v1/iam/ui/none",
  "/v1/iam/ui/account/none",
  "/v1/iam/ui/icon/none",
  "/v1/iam/ui/bootstrap/none",
  "/v1/iam/ui/bootstraps",
  "/v1/iam/ui/password-reset/none",
  "/v1/iam/oidc",
  "/v1/iam/oidc/",
  "/v1/iam/oidc/none",
  "/v1/iam/oidc/accounts",
  "/v1/iam/oidc/interaction",
  "/v1/iam/oidc/.well-known/none",
  "/v1/iam/oidc/AUTH",
  `${ACCOUNT}/`,
  `${ACCOUNT}/none`,
])("at %s", (path) => {
  test("a browser gets a page with the id of its request [PAGE-7]", async () => {
    await expectPage(await send(path, { headers: BROWSER }));
  });

  test("a program gets JSON", async () => {
    const response = await send(path, { headers: { accept: "application/json, */*" } });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      404,
      "application/json",
    ]);
    expect(await response.json()).toBeTypeOf("object");
  });
});

test("an endpoint of clients answers JSON to whoever calls it", async () => {
  for (const path of ["token", "token/revocation", "device/auth"]) {
    const response = await send(`/v1/iam/oidc/${path}`, { headers: BROWSER });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      405,
      "application/json",
    ]);
  }
});

test("the paths of a provider that is elsewhere are pages, too [PAGE-7]", async () => {
  const { service, stop } = await startTwoServices();
  try {
    for (const path of ["/v1/iam/oidc", "/v1/iam/oidc/auth", ACCOUNT, "/v1/iam/ui/none"]) {
      await expectPage(await send(path, { headers: BROWSER }, service));
      const json = await send(path, { headers: { accept: "application/json" } }, service);
      expect([json.status, await json.json()]).toEqual([
        404,
        expect.objectContaining({ code: "RESOURCE_NOT_FOUND" }),
      ]);
    }
  } finally {
    await stop();
  }
});

const FORMS = "GET, HEAD, POST, OPTIONS";
const READ = "GET, HEAD, OPTIONS";

describe.each([
  [ACCOUNT, FORMS],
  [`${ACCOUNT}/password`, FORMS],
  ["/v1/iam/oidc/interaction/x", FORMS],
  ["/v1/iam/oidc/auth", FORMS],
  ["/v1/iam/oidc/device", FORMS],
  ["/v1/iam/oidc/session/end", FORMS],
  ["/v1/iam/ui/bootstrap", FORMS],
  ["/v1/iam/ui/password-reset", FORMS],
  ["/v1/iam/logout", FORMS],
  ["/v1/iam/ui/login", READ],
  ["/v1/iam/ui/account", READ],
  ["/v1/iam/oauth2/callback", READ],
  ["/v1/iam/ui/icon", READ],
  ["/v1/iam/oidc/passkeys.js", READ],
])("%s", (path, methods) => {
  test("says by OPTIONS which methods it has", async () => {
    const response = await send(path, { method: "OPTIONS", headers: BROWSER });
    expect([response.status, response.headers.get("allow")]).toEqual([204, methods]);
  });

  test("refuses another method, and says which ones it has", async () => {
    const others = methods === READ ? ["POST", "PUT"] : ["PUT", "DELETE"];
    for (const method of others) {
      for (const headers of [BROWSER, { accept: "application/json" }]) {
        const response = await send(path, { method, headers });
        expect(response.status, method).toBe(405);
        expect(response.headers.get("allow")?.split(", ")).toEqual(
          expect.arrayContaining(methods.split(", ")),
        );
      }
    }
  });
});
