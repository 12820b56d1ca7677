import { runProgram } from "./run-program.ts";

/** An HTTP route of an RPC. */
export interface HttpRoute {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly responseBody?: string;
}

/** The response that curl received. */
export interface CurlAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
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
export function headerArgs(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
}

const VARIABLE = /\{([^}=]+)(=\*\*)?\}/g;

/** The route with the most variables, all of which the request fills. */
export function bestRoute(routes: readonly HttpRoute[], request: any): HttpRoute | undefined {
  const names = ({ path }: HttpRoute) => [...path.matchAll(VARIABLE)].map(([, name]) => name ?? "");
  return routes
    .filter((route) => names(route).every((name) => read(request, name) !== undefined))
    .sort((a, b) => names(b).length - names(a).length)[0];
}

/** The path, the query and the body of a request by a route. */
export function expand(route: HttpRoute, request: any) {
  const rest = structuredClone(request);
  const path = route.path.replace(VARIABLE, (_, name: string, isDeep?: string) => {
    const value = String(take(rest, name));
    return isDeep === undefined ? encodeURIComponent(value) : value;
  });
  if (route.body === "*") return { path, query: "", body: JSON.stringify(rest) };
  const body = route.body === undefined ? undefined : JSON.stringify(take(rest, route.body) ?? {});
  const query = new URLSearchParams();
  appendFields(query, "", rest);
  return { path, query: query.size === 0 ? "" : `?${query}`, body };
}

/** Fields of messages within the request are `message.field`. */
function appendFields(query: URLSearchParams, prefix: string, fields: any): void {
  for (const [name, value] of Object.entries(fields)) {
    for (const each of [value].flat()) {
      if (typeof each === "object") appendFields(query, `${prefix}${name}.`, each);
      else query.append(`${prefix}${name}`, String(each));
    }
  }
}

function camel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

function read(request: any, path: string): any {
  return path.split(".").reduce((value, name) => value?.[camel(name)], request);
}

/** Reads a field and removes it. */
function take(request: any, path: string): any {
  const names = path.split(".").map(camel);
  const last = names.pop() as string;
  const holder = names.reduce((value, name) => value?.[name], request);
  const value = holder?.[last];
  if (holder !== undefined) delete holder[last];
  return value;
}
