/** The longest logins that are allowed, from the authorization endpoint to the client. */
import { beforeAll, expect, test } from "vitest";
import { PROVIDER_PATH } from "../../src/config/provider-paths.ts";
import { Browser } from "../support/browser.ts";
import { startSelf, untilCallback } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { LOGIN } from "./anonymous-requests.ts";
import { storedRows } from "./stored-rows.ts";

let iam: IamService;
beforeAll(async () => {
  iam = await startSelf();
  return () => iam.stop();
});

const STATE = 4096;
const { client_id, redirect_uri, response_type, scope, code_challenge, code_challenge_method } =
  LOGIN;
const PKCE = { code_challenge, code_challenge_method };
const SHORT = { client_id, redirect_uri, response_type, scope, ...PKCE };
/** The same text again and again, in exactly so many bytes. */
const filled = (text: string, bytes: number) => text.repeat(bytes / Buffer.byteLength(text));

/**
 * Texts of which some take many more bytes in an address, or in the JSON of the row, and the bytes of the longest row.
 * No login takes more than 66,000: six bytes in JSON for each of the 8,192, and a third more once they are sealed.
 */
const TEXTS: readonly (readonly [what: string, text: string, row: number])[] = [
  ["letters", "s", 12_000],
  ["what an address encodes", "&=+%#/? ", 12_000],
  ["quotes", '"', 14_000],
  ["backslashes", "\\", 14_000],
  ["control characters", "\u0001", 40_000],
  ["umlauts", "ä", 12_000],
  ["emoji", "😀", 12_000],
];

test.each(TEXTS)("a state of 4,096 bytes of %s comes back", async (_, text) => {
  const state = filled(text, STATE);
  const back = await untilCallback(iam, new Browser(iam.origin), ({ searchParams }) => {
    searchParams.set("state", state);
  });
  expect(back.searchParams.get("state")).toBe(state);
  expect(back.searchParams.get("code")).toEqual(expect.any(String));
});

/** What else a login may have, each as long as it may be. */
const OTHERS = [
  ["nonce", 512],
  ["scope", 1024],
  ["login_hint", 512],
  ["ui_locales", 512],
  ["acr_values", 512],
  ["claims_locales", 512],
] as const;

/** The longest login with a text: of 8,192 bytes at most, and with an address that Node.js takes. */
function longestLogin(text: string): URL {
  const url = new URL(`${PROVIDER_PATH}/auth`, iam.origin);
  url.search = `${new URLSearchParams({ ...SHORT, state: filled(text, STATE) })}`;
  for (const [name, bytes] of OTHERS) {
    const before = url.search;
    const value = name === "scope" ? "openid ".repeat(bytes / 7).trim() : filled(text, bytes);
    url.searchParams.set(name, value);
    const all = [...url.searchParams.values()].join("");
    if (url.href.length > 15_000 || Buffer.byteLength(all) > 8192) url.search = before;
  }
  return url;
}

test.each(TEXTS)("the longest login fits in its row, with %s", async (_, text, row) => {
  const before = await storedRows(iam);
  const response = await fetch(longestLogin(text), { redirect: "manual" });
  expect([response.status, response.headers.get("location")?.slice(0, 200)]).toEqual([
    303,
    expect.stringContaining("/interaction/"),
  ]);
  const added = [...(await storedRows(iam))].filter(([stored]) => !before.has(stored));
  expect(added).toHaveLength(1);
  expect(added[0]?.[1].bytes).toBeLessThanOrEqual(row);
});

test.each([
  ["a letter too long", "s".repeat(STATE + 1)],
  ["a byte too long", `${"ä".repeat(STATE / 2)}s`],
])("a state that is %s is refused in the form of OAuth", async (_, state) => {
  const url = `${iam.origin}${PROVIDER_PATH}/auth?${new URLSearchParams({ ...LOGIN, state })}`;
  const response = await fetch(url, { redirect: "manual" });
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: "invalid_request", error_description: "state is longer than 4096 bytes" },
  ]);
});
