/** Random requests to all paths of the provider: no crash, no error of the server, no way out, no markup. */
import { Agent, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runs } from "../../../../test/support/effort.ts";
import { Browser, fieldOf } from "../support/browser.ts";
import {
  begin,
  CONSOLE,
  enter,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../support/provider-server.ts";
import { Random } from "../support/random.ts";
import { type FuzzRequest, fuzzRequest, type Known } from "./provider-inputs.ts";

const RUNS = Number(process.env["SVC_IAM_FUZZ_RUNS"] ?? runs(100_000, 400));
const SEED = Number(process.env["SVC_IAM_FUZZ_SEED"] ?? Date.now() % 2 ** 31);
const LANES = 8;
/** Logins, codes and cookies are new again after so many inputs of a lane. */
const FRESH_EVERY = 50;

const agent = new Agent({ keepAlive: true, maxSockets: LANES * 2 });
let iam: RunningProvider;
beforeAll(async () => {
  iam = await startProvider();
});
afterAll(async () => {
  agent.destroy();
  await stopAll();
});

async function knownNow(): Promise<Known> {
  const configuration = await iam.configure(CONSOLE);
  const browser = new Browser(iam.origin);
  const tokens = await logIn(configuration, browser);
  const session = `iam_session=${browser.cookie("iam_session")}`;
  const coming = new Browser(iam.origin);
  const page = await coming.open((await begin(configuration)).url.href);
  const other = new Browser(iam.origin);
  const back = await enter(other, await other.open((await begin(configuration)).url.href));
  return {
    cookies: [session, `iam_interaction=${coming.cookie("iam_interaction")}`],
    interactions: [page.url.split("/").at(-1) ?? ""],
    tokens: [tokens.access_token, tokens.refresh_token ?? "", tokens.id_token ?? ""],
    codes: [new URL(back.url).searchParams.get("code") ?? ""],
    formTokens: [
      fieldOf(page, "form_token"),
      fieldOf(await coming.open(`${iam.issuer}/device`), "form_token"),
      "x",
    ],
    userCodes: [],
  };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly location: string | undefined;
  readonly evil: boolean;
  readonly text: string;
}

function send({ method, path, headers, body }: FuzzRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(iam.origin);
    // What cannot be sent at all is not an input.
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\x20-\x7e]/g, "?")]),
    );
    const outgoing = request({
      agent,
      hostname,
      port,
      method,
      path: path.replace(/[^\x21-\x7e]/g, (character) => encodeURI(safe(character))),
      headers: sent,
    });
    outgoing.on("error", reject);
    outgoing.on("response", async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve({
        status: response.statusCode ?? 0,
        type: response.headers["content-type"] ?? "",
        location: response.headers.location,
        evil: "x-evil" in response.headers,
        text,
      });
    });
    outgoing.end(body);
  });
}

const safe = (character: string) => (/[\ud800-\udfff]/u.test(character) ? "?" : character);

/** Why an answer is wrong; undefined if it is not. */
function violation({ status, type, location, evil, text }: Answer): string | undefined {
  if (status >= 500) return `status ${status}`;
  if (evil) return "a header of the input";
  if (location !== undefined) {
    const { origin } = new URL(location, iam.origin);
    const isKnown = ["https://app.example.com", "http://localhost:3001", iam.origin];
    if (!isKnown.includes(origin)) return `redirect to ${location}`;
  }
  if (!type.startsWith("application/json") && /<x9q|<script/i.test(text)) return "markup";
  return undefined;
}

test(`${RUNS} inputs, seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  const violations: string[] = [];
  const statuses = new Map<number, number>();
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const random = new Random(Math.imul(SEED, 31) + lane * 7919);
      let known = await knownNow();
      for (let turn = 0; turn < RUNS / LANES && violations.length === 0; turn++) {
        if (turn % FRESH_EVERY === FRESH_EVERY - 1) known = await knownNow();
        const input = fuzzRequest(random, known);
        const answer = await send(input);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        const wrong = violation(answer);
        if (wrong !== undefined) violations.push(`${wrong}: ${JSON.stringify(input)}`);
      }
    }),
  );
  const hint = `SVC_IAM_FUZZ_SEED=${SEED} SVC_IAM_FUZZ_RUNS=${RUNS}`;
  expect(violations.slice(0, 3), hint).toEqual([]);
  expect(iam.logged.filter((line) => line.startsWith("the provider failed")).slice(0, 3)).toEqual(
    [],
  );
  for (const status of [200, 303, 400, 401]) expect(statuses.get(status) ?? 0).toBeGreaterThan(0);
});
