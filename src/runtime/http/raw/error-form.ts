import { reportedError } from "../../error/service-error.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { pathAndQuery, queryParameters } from "../routing/request-target.ts";
import type { RouteService } from "../routing/route-service.ts";
import type { RefusedRequest, RenderError } from "./raw-handler.ts";
import { requireBody, requireStatus } from "./raw-response.ts";
import { removeHeader, replaceHeaders } from "./replace-headers.ts";

/** The form in which a raw handler renders the errors of its path. */
export function errorForm(render: RenderError): NonNullable<RouteService["errorForm"]> {
  return (exchange, error, headers) => {
    const rendered = render(reportedError(error), refusedRequest(exchange));
    if (rendered === undefined) return undefined;
    refusePromise(rendered);
    const { status = error.status, body } = rendered;
    requireStatus("renderError", status, 400);
    requireBody("renderError", body);
    // It is that of the JSON that this body replaces: with nosniff, browsers would show a page as text.
    removeHeader(headers, "content-type");
    replaceHeaders(exchange, headers, rendered.headers);
    return { status, body };
  };
}

/** The types forbid one. If it rejected, the rejection would end the process. */
function refusePromise(rendered: unknown): void {
  if (!(rendered instanceof Promise)) return;
  rendered.catch(() => undefined);
  throw new Error("renderError returned a promise: it must not be async");
}

function refusedRequest({ incoming, call, headers, requestId }: Exchange): RefusedRequest {
  const { path, query } = pathAndQuery(incoming.url ?? "");
  return {
    method: incoming.method ?? "",
    path,
    query: queryParameters(query),
    headers: call?.headers ?? headers,
    requestId,
  };
}
