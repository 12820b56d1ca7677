import { bestRoute, curl, expand, headerArgs } from "../../support/curl.ts";
import type { Answer, Caller, Headers, Json } from "./caller.ts";
import { routeOf } from "./routes.ts";

const CODES: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "unauthenticated",
  FORBIDDEN: "permission_denied",
  RESOURCE_NOT_FOUND: "not_found",
  RATE_LIMITED: "resource_exhausted",
};

/** Calls with curl, on the HTTP routes of `gen/routes/hub.json`; RPCs without a route use another caller. */
export class Curl implements Caller {
  /** The routes that were answered with 200. */
  readonly served = new Set<string>();
  readonly #origin: string;
  readonly #otherwise: Caller;

  constructor(origin: string, otherwise: Caller) {
    this.#origin = origin;
    this.#otherwise = otherwise;
  }

  async call(rpc: string, request: Json, headers: Headers): Promise<Answer> {
    const { http = [], stream } = routeOf(rpc);
    const route = bestRoute(http, request);
    if (route === undefined) return this.#otherwise.call(rpc, request, headers);
    const { path, query, body } = expand(route, request);
    const sent = body === undefined ? [] : ["-H", "content-type: application/json", "-d", body];
    const answer = await curl(
      `${this.#origin}${path}${query}`,
      ...["-X", route.method, ...headerArgs(headers), ...sent],
    );
    if (answer.status !== 200) {
      const { code, message } = JSON.parse(answer.body);
      return { code: CODES[code] ?? code.toLowerCase(), error: message, messages: [] };
    }
    this.served.add(`${route.method} ${route.path}`);
    const texts = stream === "unary" ? [answer.body] : answer.body.trim().split("\n");
    const messages = texts.map((text) => JSON.parse(text));
    const whole =
      route.responseBody === undefined
        ? messages
        : messages.map((message) => ({ [route.responseBody as string]: message }));
    return { code: "ok", error: "", messages: whole };
  }
}
