import { Agent, request } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { Random } from "../support/random.ts";
import type { FuzzRequest } from "./fuzz-texts.ts";

const LANES = 8;
/** Logins, codes and cookies are new again after so many inputs of a lane. */
const FRESH_EVERY = 50;
/** Whoever has no answer by then never has one: it is reported with its input, before the test's own limit. */
const HANGS_AFTER_MS = 300_000;

/** What is tried, and what is right. */
export interface Fuzz<Known> {
  readonly origin: string;
  /** Where redirects may lead, besides the origin. */
  readonly origins: readonly string[];
  readonly runs: number;
  readonly seed: number;
  /** What inputs are made of. */
  readonly knownNow: () => Promise<Known>;
  readonly input: (random: Random, known: Known) => FuzzRequest;
}

/** The response to an input. */
export interface FuzzAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** Sends random inputs, until the first wrong answers. @returns what is wrong, with its inputs */
export async function fuzz<Known>({ runs, seed, knownNow, input, ...place }: Fuzz<Known>) {
  const violations: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: LANES * 2 });
  try {
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        const random = new Random(Math.imul(seed, 31) + lane * 7919);
        const fresh = () => answered(knownNow(), "what inputs are made of");
        let known = await fresh();
        for (let turn = 0; turn < runs / LANES && violations.length === 0; turn++) {
          if (turn % FRESH_EVERY === FRESH_EVERY - 1) known = await fresh();
          const sent = input(random, known);
          const answer = answered(send(sent, place.origin, agent), JSON.stringify(sent));
          const wrong = violation(await answer, place);
          if (wrong !== undefined) violations.push(`${wrong}: ${JSON.stringify(sent)}`);
        }
      }),
    );
  } finally {
    agent.destroy();
  }
  return violations;
}

/** @throws Error that names what is awaited, if it never comes */
async function answered<Value>(awaited: Promise<Value>, name: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer: ${name}`)), HANGS_AFTER_MS);
  });
  try {
    return await Promise.race([awaited, never]);
  } finally {
    clearTimeout(timer);
  }
}

/** Sends one input. */
export function send(input: FuzzRequest, origin: string, agent?: Agent): Promise<FuzzAnswer> {
  const { method, path, headers, body } = input;
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    // What cannot be sent at all is not an input.
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\x20-\x7e]/g, "?")]),
    );
    const outgoing = request({
      ...(agent === undefined ? {} : { agent }),
      hostname,
      port,
      method,
      path: path.replace(/[^\x21-\x7e]/g, (character) => encodeURI(safe(character))),
      headers: sent,
    });
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      const { statusCode: status = 0, headers } = response;
      textOf(response).then((text) => resolve({ status, headers, text }), reject);
    });
    outgoing.end(body);
  });
}

const safe = (character: string) => (/[\ud800-\udfff]/u.test(character) ? "?" : character);

/** Why an answer is wrong; undefined if it is not. */
export function violation(
  { status, headers, text }: FuzzAnswer,
  { origin, origins }: Pick<Fuzz<unknown>, "origin" | "origins">,
): string | undefined {
  // Only a limit says when to come back.
  if (status >= 500 && !(status === 503 && "retry-after" in headers)) return `status ${status}`;
  if ("x-evil" in headers) return "a header of the input";
  const refresh = /url=(.*)/.exec(String(headers["refresh"] ?? ""))?.[1];
  for (const target of [headers["location"], refresh]) {
    if (target === undefined) continue;
    const found = URL.parse(String(target), origin)?.origin;
    if (found === undefined || ![origin, ...origins].includes(found)) return `way out to ${target}`;
  }
  const type = String(headers["content-type"] ?? "");
  if (!type.startsWith("application/json") && /<x9q|<script(?! src="\/v1\/)/i.test(text)) {
    return "markup";
  }
  return undefined;
}
