import { headerOf, type RawResponse } from "../hostile/support/raw-http.ts";
import { HttpConnection } from "./http-connection.ts";
import { type HttpInput, httpInput, looseInput } from "./http-inputs.ts";
import { callersOf, type Field } from "./oracle.ts";
import type { Random } from "./random.ts";
import type { Lane } from "./run.ts";
import type { Pending, Subject } from "./subject.ts";

const FORM = ["status", "code", "message", "request_id"];
const FORM_OF_CONNECT = ["code", "message"];
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Sends requests over a kept connection; those with an ambiguous end over a separate one. */
export function httpLane(
  subject: Subject,
  random: Random,
  from: "trusted" | "stranger",
  statuses: Map<number, number>,
): Lane {
  const kept = new HttpConnection(subject.world.port("http", from));
  const register = (input: HttpInput, isLoose: boolean): Pending => {
    const of = (fields: readonly Field[]) =>
      callersOf({ mode: subject.mode, isTrusted: from === "trusted", fields }, subject.credentials);
    // A changed byte may rename one of two duplicate fields: then the other is used.
    const callers = isLoose ? input.fields.flatMap((field) => of([field])) : of(input.fields);
    const text = `${from}: ${JSON.stringify(input.text)}`;
    const pending: Pending = { callers, isLoose, text, seen: undefined };
    subject.register(input.requestId, pending);
    return pending;
  };
  const exchange = async (
    connection: HttpConnection,
    inputs: readonly HttpInput[],
    isLoose = false,
  ) => {
    const pending = inputs.map((input) => register(input, isLoose));
    const text = inputs.map((input) => input.text).join("");
    const heads = inputs.map(({ method }) => method === "HEAD");
    const ends = inputs.some(({ isUnframed }) => isUnframed);
    const responses = await connection.exchange(text, heads, ends);
    for (const [index, response] of responses.filter(({ status }) => status >= 200).entries()) {
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      const input = ends || inputs[index] === undefined ? undefined : inputs[index];
      const problem = problemOf(response, input, pending[index]);
      if (problem !== undefined)
        subject.violations.push(
          `${problem}: ${response.status} ${response.body} for ${from}: ${JSON.stringify(text)}`,
        );
    }
  };
  return {
    async next() {
      const { credentials } = subject;
      // Changed bytes are sent from an untrusted peer: from a trusted one, any identity would be valid.
      if (from === "stranger" && random.chance(20)) {
        const once = new HttpConnection(subject.world.port("http", from));
        await exchange(once, [looseInput(random, credentials)], true);
        return once.close();
      }
      const inputs = [httpInput(random, credentials)];
      if (random.chance(15)) {
        for (let more = random.below(4); more > 0; more--)
          inputs.push(httpInput(random, credentials));
      }
      const framed = inputs.filter(({ isUnframed, method }) => !isUnframed && method !== "HEAD");
      if (inputs.length > 1 && framed.length > 1) return exchange(kept, framed);
      const [input] = inputs as [HttpInput];
      if (!input.isUnframed) return exchange(kept, [input]);
      const once = new HttpConnection(subject.world.port("http", from));
      await exchange(once, [input]);
      once.close();
    },
    close: () => kept.close(),
  };
}

/** The error in a response; undefined if there is none. */
function problemOf(
  response: RawResponse,
  input: HttpInput | undefined,
  pending: Pending | undefined,
): string | undefined {
  const { status, body } = response;
  if (status >= 500) return "an answer that nothing here declares";
  const requestId = headerOf(response, "x-request-id");
  if (requestId === undefined || !REQUEST_ID.test(requestId)) return "no request id";
  if (headerOf(response, "x-content-type-options") !== "nosniff") return "no nosniff";
  // The end of a response to HEAD between others is unknown.
  if (body.startsWith("HTTP/1.1 ") && input === undefined) return undefined;
  // On the paths of RPCs, a request of no protocol gets a text error, which no client mistakes for an error of its protocol.
  const isText = headerOf(response, "content-type")?.startsWith("text/plain") === true;
  const isEmpty = input?.method === "HEAD" || (input === undefined && body === "");
  if (status >= 400 && !isText && !isEmpty) {
    const error = JSON.parse(body) as Record<string, unknown>;
    const keys = Object.keys(error).filter((key) => key !== "details");
    if (JSON.stringify(keys) === JSON.stringify(FORM_OF_CONNECT)) return undefined;
    if (JSON.stringify(keys) !== JSON.stringify(FORM)) return "another form of error";
    if (error["status"] !== status || error["request_id"] !== requestId) return "another's error";
  }
  if (input === undefined || status !== 200 || requestId !== input.requestId) return undefined;
  if (!body.startsWith('{"subjectId"')) return undefined;
  const { subjectId } = JSON.parse(body.split("\n", 1)[0] as string) as { subjectId: string };
  if (pending?.seen === undefined) return "an answer without a handler";
  const seen = pending.seen.caller?.subjectId ?? "";
  return seen === subjectId ? undefined : `the answer is ${subjectId}'s, the caller was ${seen}`;
}
