/** The picture of the pages in the tabs of browsers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { logInBrowser, startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><style>a{}</style></svg>';

const folder = mkdtempSync(join(tmpdir(), "svc-iam-icon-"));
const logo = join(folder, "logo.svg");
writeFileSync(logo, SVG);
const started: IamService[] = [];
afterAll(async () => {
  rmSync(folder, { recursive: true });
  for (const one of started) await one.stop();
});

async function start(pages: object): Promise<IamService> {
  const iam = await startSelf({ iam: { pages } });
  started.push(iam);
  return iam;
}

const PAGES = ["/v1/iam/logout", "/v1/iam/oidc/device", "/v1/iam/ui/none"];

describe.each<[string, object, (content: string) => void]>([
  ["of our own", {}, (content) => expect(content).toMatch(/^<svg xmlns=.*<\/svg>$/)],
  ["that is the logo", { logo_file: logo }, (content) => expect(content).toBe(SVG)],
])("an icon %s [PAGE-6]", (_, pages, expectPicture) => {
  test("is linked from each page, which may show it, and is cached for as long as it is the same", async () => {
    const iam = await start(pages);
    const addresses = new Set<string>();
    for (const path of PAGES) {
      const response = await new Browser(iam.origin).request(`${iam.origin}${path}`);
      const link = /<link rel="icon" href="([^"]*)" type="image\/svg\+xml">/.exec(
        await response.text(),
      );
      addresses.add(link?.[1] ?? "");
      expect(response.headers.get("content-security-policy")).toContain("img-src 'self'");
    }
    const [address = "", ...others] = addresses;
    expect(others).toEqual([]);
    expect(address).toMatch(/^\/v1\/iam\/ui\/icon\?v=/);
    const browser = new Browser(iam.origin);
    await logInBrowser(iam, browser);
    for (const [path, caching] of [
      [address, "public, max-age=31536000, immutable"],
      ["/v1/iam/ui/icon?v=older", "no-cache"],
      ["/v1/iam/ui/icon", "no-cache"],
    ] as const) {
      for (const visitor of [browser, new Browser(iam.origin)]) {
        const response = await visitor.request(`${iam.origin}${path}`);
        expectPicture(await response.text());
        expect([response.status, response.headers.get("cache-control")]).toEqual([200, caching]);
        expect(response.headers.get("content-type")).toBe("image/svg+xml");
        // An SVG picture is a document, too, if somebody opens it.
        expect(response.headers.get("content-security-policy")).toBe(
          "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
        );
        expect(response.headers.get("x-content-type-options")).toBe("nosniff");
        expect(response.headers.getSetCookie()).toEqual([]);
      }
    }
  });
});

test("another picture has another address [PAGE-6]", async () => {
  const addresses = await Promise.all(
    [{}, { logo_file: logo }].map(async (pages) => {
      const { origin } = await start(pages);
      const page = await (await fetch(`${origin}/v1/iam/logout`)).text();
      return /rel="icon" href="([^"]*)"/.exec(page)?.[1];
    }),
  );
  expect(addresses[0]).not.toBe(addresses[1]);
});
