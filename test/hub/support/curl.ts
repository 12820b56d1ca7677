import type { Answer, Caller, Headers, Json } from "./caller.ts";
import { type HttpRoute, routeOf } from "./routes.ts";
import { runProgram } from "./run-program.ts";

/** The response that curl received. */
export interface CurlAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Runs curl. */
export async function curl(url: string, ...args: readonly string[]): Promise<CurlAnswer> {
  const options = ["--silent", "--show-error", "--include", "--max-time", "30", "--path-as-is"];
  const { output, errors, exitCode } = await runProgram("curl", [...options, ...args, url]);
  if (exitCode !== 0) throw new Error(`curl: ${errors}`);
  // An interim response, such as 100, precedes the final one.
  const [, head = "", body = ""] =
    /^(?:HTTP\/1\.1 1\d\d[^]*?\r\n\r\n)*([^]*?)\r\n\r\n([^]*)$/.exec(output) ?? [];
  const [first = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const [name = "", ...value] = line.split(": ");
    return [name.toLowerCase(), value.join(": ")];
  });
  return { status: Number(first.split(" ")[1]), headers: Object.fromEntries(headers), body };
}

/** The arguments that send headers. */
export function headerArgs(headers: Headers): string[] {
  return Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
}

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

const VARIABLE = /\{([^}=]+)(=\*\*)?\}/g;

/** The route with the most variables, all of which the request fills. */
function bestRoute(routes: readonly HttpRoute[], request: Json): HttpRoute | undefined {
  const names = ({ path }: HttpRoute) => [...path.matchAll(VARIABLE)].map(([, name]) => name ?? "");
  return routes
    .filter((route) => names(route).every((name) => read(request, name) !== undefined))
    .sort((a, b) => names(b).length - names(a).length)[0];
}

function expand(route: HttpRoute, request: Json) {
  const rest = structuredClone(request);
  const path = route.path.replace(VARIABLE, (_, name: string, isDeep?: string) => {
    const value = String(take(rest, name));
    return isDeep === undefined ? encodeURIComponent(value) : value;
  });
  if (route.body === "*") return { path, query: "", body: JSON.stringify(rest) };
  const body = route.body === undefined ? undefined : JSON.stringify(take(rest, route.body) ?? {});
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    for (const each of [value].flat()) query.append(name, String(each));
  }
  return { path, query: query.size === 0 ? "" : `?${query}`, body };
}

function camel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

function read(request: Json, path: string): Json {
  return path.split(".").reduce((value, name) => value?.[camel(name)], request);
}

/** Reads a field and removes it. */
function take(request: Json, path: string): Json {
  const names = path.split(".").map(camel);
  const last = names.pop() as string;
  const holder = names.reduce((value, name) => value?.[name], request);
  const value = holder?.[last];
  if (holder !== undefined) delete holder[last];
  return value;
}
