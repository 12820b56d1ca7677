import { ServiceError } from "../../error/service-error.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { isJson } from "../transcoding/content-type.ts";

/**
 * The path is an RPC's, but the content type is not one of an RPC protocol, or not one for RPCs of
 * this kind.
 */
export function notSpoken(): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    "no protocol of this RPC has this Content-Type",
  );
}

/** Whether a request to the path of an RPC is JSON that does not say that it is of Connect. */
export function isPlainJson({ incoming, headers }: Exchange): boolean {
  const [type, ...others] = headers.all("content-type");
  return (
    incoming.method === "POST" &&
    type !== undefined &&
    others.length === 0 &&
    isJson(type) &&
    headers.all("connect-protocol-version").length === 0
  );
}

/** JSON is of Connect only with its header: without, the request is for a route, and no route has its path. */
export function withoutHeader(): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    "no route has this path; Connect needs the header Connect-Protocol-Version: 1",
  );
}

/** The RPC may be called by GET, but the query is not that of Connect. */
export function withoutQuery(): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    "no route has this path; Connect needs the query connect=v1, with encoding and message",
  );
}
