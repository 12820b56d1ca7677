import type { Call } from "../../call/call.ts";
import type { HttpRoute } from "../../service-binding.ts";
import { pathOf } from "../access-log/access-line.ts";

/**
 * The path template that a call over HTTP came by: one of the few of its RPC. Of a raw
 * handler, the path that is declared.
 */
export function routeOf(call: Call): string | undefined {
  const { routes, descriptor, rpc } = call.method;
  if (descriptor === undefined) return rpc;
  const candidates = routes.filter(({ method }) => method === "*" || method === call.httpMethod);
  if (candidates.length < 2) return candidates[0]?.path;
  const segments = pathOf(call.target).slice(1).split("/");
  return candidates.find((route) => fits(route, segments))?.path;
}

function fits({ segments, verb }: HttpRoute, sent: readonly string[]): boolean {
  const last = sent.length - 1;
  const rest = [...sent];
  if (verb !== undefined) {
    const text = rest[last] ?? "";
    if (!text.endsWith(`:${verb}`)) return false;
    rest[last] = text.slice(0, -verb.length - 1);
  }
  const open = segments.indexOf("**");
  if (open < 0 ? rest.length !== segments.length : rest.length < segments.length - 1) return false;
  return segments
    .slice(0, open < 0 ? undefined : open)
    .every((segment, index) => segment === "*" || segment === rest[index]);
}
