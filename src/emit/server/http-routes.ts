import type { Rpc } from "../../api/api.ts";
import { formatSegment } from "../../api/path-template.ts";
import { bindingsOf } from "../../api/resolved-policy.ts";
import type { HttpRoute } from "../../runtime/service-binding.ts";

/** The HTTP routes of an RPC as generated code holds them. */
export function httpRoutes(rpc: Rpc): HttpRoute[] {
  return bindingsOf(rpc).map(({ method, path, template, body, responseBody }) => {
    return {
      rpc: rpc.fullName,
      method,
      path,
      segments: template.segments.map(formatSegment),
      variables: template.variables,
      ...(template.verb === undefined ? {} : { verb: template.verb }),
      ...(body === undefined ? {} : { body }),
      ...(responseBody === undefined ? {} : { responseBody }),
    };
  });
}
