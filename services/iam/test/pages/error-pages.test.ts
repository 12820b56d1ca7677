/** Errors of the pages of svc-iam, also those of the chain before a handler: a page for a browser, JSON for a program. */
import { errors } from "oidc-provider";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { providerErrorPage } from "../../src/pages/error-pages.ts";
import german from "../../src/pages/messages/de.json" with { type: "json" };
import { Texts } from "../../src/pages/texts.ts";
import { databaseOf, startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";

const PAGES = [
  "/v1/iam/oidc/account",
  "/v1/iam/oidc/account/sessions",
  "/v1/iam/oidc/interaction/x",
  "/v1/iam/oidc/auth",
  "/v1/iam/oidc/device",
  "/v1/iam/ui/bootstrap",
  "/v1/iam/ui/password-reset",
  "/v1/iam/ui/login",
  "/v1/iam/ui/account",
  "/v1/iam/oauth2/callback",
  "/v1/iam/logout",
];
const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "accept-language": "de" };

let iam: IamService;
beforeAll(async () => {
  iam = await startSelf({ authn: { mode: "hybrid" }, logLevel: "silent" });
});
afterAll(() => iam.stop());

const send = (path: string, init: RequestInit, at = iam) =>
  fetch(`${at.origin}${path}`, { redirect: "manual", ...init });

async function expectPage(response: Response, status: number, text: string) {
  const page = await response.text();
  expect([response.status, response.headers.get("content-type")]).toEqual([
    status,
    "text/html; charset=utf-8",
  ]);
  expect(page).toContain('<html lang="de">');
  expect(page).toContain(text);
  expect(page).toContain(`Anfrage: <code>${response.headers.get("x-request-id")}</code>`);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  return page;
}

describe.each(PAGES)("%s", (path) => {
  test("refuses another method with a page, that names the methods in its header [PAGE-7]", async () => {
    const response = await send(path, { method: "DELETE", headers: BROWSER });
    await expectPage(response, 405, german["It is not valid. Go back and try again."]);
    expect(response.headers.get("allow")).toContain("GET");
  });

  test("refuses a forged identity header with a page [PAGE-7]", async () => {
    const headers = { ...BROWSER, x_svc_user_id: "alice" };
    await expectPage(await send(path, { headers }), 400, german["The request was refused"]);
  });

  test.each(["application/json", "*/*"])(
    "answers JSON to a program that accepts %s",
    async (accept) => {
      const response = await send(path, { method: "DELETE", headers: { accept } });
      expect(response.status).toBe(405);
      expect(await response.json()).toBeTypeOf("object");
    },
  );
});

/** The first response of a path that is the refusal of a request too many, or the last of a thousand. */
async function untilLimited(path: string): Promise<Response> {
  for (let count = 1; ; count++) {
    const response = await send(`${path}?token=x`, { headers: BROWSER });
    if (response.status === 429 || count === 1_000) return response;
    await response.body?.cancel();
  }
}

test.each(["/v1/iam/ui/password-reset", "/v1/iam/ui/bootstrap"])(
  "the rate limit of %s is a page that says how long to wait [PAGE-7]",
  async (path) => {
    // The clock of the rate limit stands still: a slow machine reaches the limit by the same requests as a fast one.
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    const response = await untilLimited(path).finally(() => clock.mockRestore());
    const page = await expectPage(response, 429, german["Too many attempts"]);
    const seconds = response.headers.get("retry-after") ?? "";
    expect(page).toContain(german["Try again in {seconds} s."].replace("{seconds}", seconds));
  },
);

test("a defect is a page that asks for the id of its request [PAGE-7]", async () => {
  const one = await startSelf({ authn: { mode: "hybrid" }, logLevel: "silent" });
  try {
    await databaseOf(one).kysely.schema.dropTable("iam_password_reset_links").execute();
    const path = `/v1/iam/ui/password-reset?token=${"a".repeat(43)}`;
    const page = await expectPage(
      await send(path, { headers: BROWSER }, one),
      500,
      "die Nummer der Anfrage",
    );
    expect(page).not.toContain("iam_password");
  } finally {
    await one.stop();
  }
});

const CODES = [
  ...new Set(
    Object.values(errors)
      .filter((one) => one !== errors.OIDCProviderError && one !== errors.CustomOIDCProviderError)
      .map((One) => new (One as new (...args: string[]) => Error)("x", "y").message),
  ),
  "server_error",
  "constructor",
  "an error of a later version",
];

test.each(CODES)(
  "the error %s is in German, and its description is marked as English [PAGE-3]",
  (code) => {
    const description = "some <text> of the library";
    const body = providerErrorPage(code, description)(new Texts("de")).body.text;
    const [, text = "", rest = ""] = /^<p>(.*)<\/p>\n<p class="quiet">(.*)<\/p>$/.exec(body) ?? [];
    expect(Object.values(german)).toContain(text);
    const english = ` – <span lang="en">some &lt;text&gt; of the library</span>`;
    expect(rest).toBe(`Fehler: <code>${code}</code>${code === "server_error" ? "" : english}`);
  },
);
