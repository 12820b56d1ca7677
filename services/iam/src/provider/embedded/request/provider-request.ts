import { IncomingMessage, type ServerResponse } from "node:http";
import type { RawRequest } from "svc-access/runtime";

/** What the provider needs of a request. */
export interface ProviderRequest
  extends Pick<RawRequest, "incoming" | "response" | "method" | "path" | "body"> {
  readonly headers: Pick<RawRequest["headers"], "all">;
  /** Names the cause of a failure; absent for requests of this process to its own provider. */
  readonly nameCause?: RawRequest["nameCause"];
  /** Whether this process asks its own provider, for a service that called it. */
  readonly isOwn?: boolean;
}

/** A request as `oidc-provider` reads it. */
export interface RequestParts {
  readonly incoming: IncomingMessage;
  /** The path and query below the issuer. */
  readonly url: string;
  /** The form in its body; undefined for a request without one. */
  readonly form: URLSearchParams | undefined;
}

/**
 * A copy of a request with another path and body: the body was already read, and in place of an access
 * token it may have something that `oidc-provider` can look up.
 *
 * The form is written again, in ASCII and without the `charset` of the sender: if `oidc-provider` decoded by
 * that, it would find fields that the checks before it have not seen.
 */
export function freshRequest({ incoming, url, form }: RequestParts): IncomingMessage {
  const request = new IncomingMessage(incoming.socket);
  request.method = incoming.method ?? "GET";
  request.url = url;
  request.httpVersionMajor = incoming.httpVersionMajor;
  request.httpVersionMinor = incoming.httpVersionMinor;
  request.httpVersion = incoming.httpVersion;
  request.headers = { ...incoming.headers };
  if (form !== undefined) {
    const body = Buffer.from(form.toString());
    const type = request.headers["content-type"]?.replace(/[ \t]*;.*$/s, "");
    if (type !== undefined) request.headers["content-type"] = type;
    delete request.headers["transfer-encoding"];
    request.headers["content-length"] = String(body.length);
    request.push(body);
  }
  request.push(null);
  // Node.js destroys the connection of a request that was read before it was complete.
  request.complete = true;
  return request;
}

/** The query of a URL, with its question mark; empty if it has none. */
export function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
}

/** Waits until a response is sent, or its client has gone: it may be gone already. */
export function hold(response: ServerResponse): Promise<void> {
  if (response.writableFinished || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    response.once("close", resolve);
    response.once("finish", resolve);
  });
}
