/** Random requests to all paths of the provider: no crash, no error of the server, no way out, no markup. */
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runs } from "../../../../test/support/effort.ts";
import { Browser, fieldOf } from "../support/browser.ts";
import {
  begin,
  CALLBACK,
  CONSOLE,
  enter,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
  TV,
} from "../support/provider-server.ts";
import { fuzz, send, violation } from "./fuzz-loop.ts";
import { type FuzzRequest, MARKUP } from "./fuzz-texts.ts";
import { fuzzRequest, type Known } from "./provider-inputs.ts";

const RUNS = Number(process.env["SVC_IAM_FUZZ_RUNS"] ?? runs(75_000, 400));
const SEED = Number(process.env["SVC_IAM_FUZZ_SEED"] ?? Date.now() % 2 ** 31);
const ORIGINS = ["https://app.example.com", "http://localhost:3001"];

let iam: RunningProvider;
/** Few: an address may begin only so many logins of devices. */
const userCodes: string[] = [];
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE, TV] });
  const tv = await iam.configure(TV);
  for (let count = 0; count < 3; count++) {
    const { user_code } = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
    userCodes.push(user_code);
  }
});
afterAll(stopAll);

async function knownNow(): Promise<Known> {
  const configuration = await iam.configure(CONSOLE);
  const browser = new Browser(iam.origin);
  const tokens = await logIn(configuration, browser);
  const known = (from: Browser, name: string) =>
    `${name}=${from.cookie(name)}; iam_browser=${from.cookie("iam_browser")}`;
  const coming = new Browser(iam.origin);
  const page = await coming.open((await begin(configuration)).url.href);
  const other = new Browser(iam.origin);
  const back = await enter(other, await other.open((await begin(configuration)).url.href));
  return {
    cookies: [known(browser, "iam_session"), known(coming, "iam_interaction")],
    interactions: [page.url.split("/").at(-1) ?? ""],
    tokens: [tokens.access_token, tokens.refresh_token ?? "", tokens.id_token ?? ""],
    codes: [new URL(back.url).searchParams.get("code") ?? ""],
    formTokens: [
      fieldOf(page, "form_token"),
      fieldOf(await coming.open(`${iam.issuer}/device`), "form_token"),
      "x",
    ],
    userCodes,
  };
}

const AUTHORIZATION = {
  client_id: CONSOLE.id,
  redirect_uri: CALLBACK,
  response_type: "code",
  scope: "openid",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
};
const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Each outcome that random inputs seldom have has one. */
const EXAMPLES: readonly (readonly [string, number, () => Partial<FuzzRequest>])[] = [
  ["the key set", 200, () => ({ path: "/jwks" })],
  ["a login", 303, () => ({ path: `/auth?${new URLSearchParams(AUTHORIZATION)}` })],
  [
    "a login that would lead to another site",
    400,
    () => {
      const query = { ...AUTHORIZATION, redirect_uri: "https://evil.example.net/" };
      return { path: `/auth?${new URLSearchParams(query)}`, headers: { accept: "text/html" } };
    },
  ],
  [
    "a state that is markup",
    400,
    () => ({ path: `/auth?${new URLSearchParams({ client_id: MARKUP, state: MARKUP })}` }),
  ],
  [
    "a wrong secret of a client",
    401,
    () => ({
      method: "POST",
      path: "/token",
      headers: { ...FORM, authorization: `Basic ${btoa(`${CONSOLE.id}:wrong`)}` },
      body: "grant_type=refresh_token&refresh_token=x",
    }),
  ],
  [
    "the code of a device",
    200,
    () => ({ path: `/device?user_code=${userCodes[0]}`, headers: { accept: "text/html" } }),
  ],
  ["an unknown path", 404, () => ({ path: "/none" })],
];

test.each(EXAMPLES)("%s is answered with %i", async (_, status, example) => {
  const { method = "GET", path, headers = {}, body } = example();
  const input = { method, path: `/v1/iam/oidc${path}`, headers, body };
  const answer = await send(input, iam.origin);
  expect(answer.status).toBe(status);
  expect(violation(answer, { origin: iam.origin, origins: ORIGINS })).toBeUndefined();
});

test(`${RUNS} inputs, seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  const violations = await fuzz({
    origin: iam.origin,
    origins: ORIGINS,
    runs: RUNS,
    seed: SEED,
    knownNow,
    input: fuzzRequest,
  });
  const hint = `SVC_IAM_FUZZ_SEED=${SEED} SVC_IAM_FUZZ_RUNS=${RUNS}`;
  expect(violations.slice(0, 3), hint).toEqual([]);
  const defects = iam.server.logLines().filter(({ level }) => level === "error");
  expect([
    ...iam.logged.filter((line) => line.startsWith("the provider failed")),
    ...defects,
  ]).toEqual([]);
});
