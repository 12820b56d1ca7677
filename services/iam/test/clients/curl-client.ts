import type { HttpRoute } from "../../../../test/support/curl.ts";
import { bestRoute, curl, expand, headerArgs } from "../../../../test/support/curl.ts";
import {
  type Answer,
  type Json,
  type RpcCall,
  type RpcClient,
  wholeMessage,
} from "./rpc-client.ts";
import { runUntil } from "./run-until.ts";

const CODES: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "unauthenticated",
  FORBIDDEN: "permission_denied",
  RESOURCE_NOT_FOUND: "not_found",
  RATE_LIMITED: "resource_exhausted",
};
const STREAM = "application/connect+json";
const END_OF_STREAM = 2;
const HEAD_BYTES = 5;

/** curl, on the HTTP routes of the RPCs; by the Connect protocol in JSON where an RPC has none. */
export class CurlClient implements RpcClient {
  readonly name = "curl";
  readonly #origin: string;
  readonly #routes: ReadonlyMap<string, readonly HttpRoute[]>;

  /** @param routes those of each RPC, by its full name */
  constructor(origin: string, routes: ReadonlyMap<string, readonly HttpRoute[]>) {
    this.#origin = origin;
    this.#routes = routes;
  }

  call(call: RpcCall): Promise<Answer> {
    const rpc = `${call.method.parent.typeName}/${call.method.name}`;
    const routes = this.#routes.get(rpc) ?? [];
    if (routes.length > 0) {
      const route = bestRoute(routes, call.request);
      if (route === undefined) throw new Error(`the request of ${rpc} fills none of its routes`);
      return this.#callRoute(route, call);
    }
    const url = `${this.#origin}/${rpc}`;
    return call.method.methodKind === "unary" ? connectUnary(url, call) : connectStream(url, call);
  }

  async #callRoute(route: HttpRoute, call: RpcCall): Promise<Answer> {
    const { method, request, headers, isLast } = call;
    const { path, query, body } = expand(route, request);
    const sent = body === undefined ? [] : ["-H", "content-type: application/json", "-d", body];
    const args = ["-X", route.method, ...headerArgs(headers), ...sent];
    const url = `${this.#origin}${path}${query}`;
    const whole = (text: string) => {
      const json = JSON.parse(text);
      const { responseBody } = route;
      return wholeMessage(method, responseBody === undefined ? json : { [responseBody]: json });
    };
    if (isLast !== undefined) {
      const lastOf = (output: Buffer) =>
        output.toString().split("\n").slice(0, -1).map(whole).find(isLast);
      const quiet = ["--silent", "--no-buffer", "--fail-with-body", ...args, url];
      const isEnough = (output: Buffer) => lastOf(output) !== undefined;
      const { output, exitCode } = await runUntil("curl", quiet, "", isEnough);
      if (exitCode !== undefined) return refusal(output.toString());
      return { code: "ok", messages: [lastOf(output)] };
    }
    const answer = await curl(url, ...args);
    if (answer.status !== 200) return refusal(answer.body, answer.status);
    const texts = method.methodKind === "unary" ? [answer.body] : answer.body.trim().split("\n");
    return { code: "ok", messages: texts.map(whole) };
  }
}

/** The error of a route. @throws Error if it does not have its form */
function refusal(text: string, status?: number): Answer {
  const { code, message, request_id, ...rest } = JSON.parse(text);
  const isWhole = [code, message, request_id].every((part) => typeof part === "string");
  if (!isWhole || (status !== undefined && rest.status !== status)) throw new Error(text);
  return { code: CODES[code] ?? code.toLowerCase(), messages: [] };
}

async function connectUnary(url: string, { method, request, headers }: RpcCall): Promise<Answer> {
  const all = { ...headers, "content-type": "application/json", "connect-protocol-version": "1" };
  const { status, body } = await curl(url, ...headerArgs(all), "-d", JSON.stringify(request));
  const json = JSON.parse(body);
  if (status === 200) return { code: "ok", messages: [wholeMessage(method, json)] };
  if (typeof json.code !== "string" || "status" in json) throw new Error(body);
  return { code: json.code, messages: [] };
}

/** The last message of a stream without end. */
async function connectStream(url: string, call: RpcCall): Promise<Answer> {
  const { method, request, headers, isLast = () => true } = call;
  const all = { ...headers, "content-type": STREAM, "connect-protocol-version": "1" };
  const args = ["--silent", "--no-buffer", ...headerArgs(all), "--data-binary", "@-", url];
  const lastOf = (output: Buffer) =>
    framesOf(output).find(({ isEnd, json }) => isEnd || isLast(wholeMessage(method, json)));
  const { output } = await runUntil("curl", args, envelope(request), (written) => {
    return lastOf(written) !== undefined;
  });
  const last = lastOf(output);
  if (last === undefined) throw new Error(`curl: ${output}`);
  if (!last.isEnd) return { code: "ok", messages: [wholeMessage(method, last.json)] };
  return { code: last.json.error.code, messages: [] };
}

function envelope(json: Json): Uint8Array {
  const bytes = Buffer.from(JSON.stringify(json));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

interface Frame {
  readonly isEnd: boolean;
  readonly json: Json;
}

/** The complete frames. */
function framesOf(bytes: Buffer): readonly Frame[] {
  if (bytes.length < HEAD_BYTES) return [];
  const end = HEAD_BYTES + bytes.readUInt32BE(1);
  if (bytes.length < end) return [];
  const json = JSON.parse(bytes.subarray(HEAD_BYTES, end).toString());
  const isEnd = ((bytes[0] ?? 0) & END_OF_STREAM) !== 0;
  return [{ isEnd, json }, ...framesOf(bytes.subarray(end))];
}
