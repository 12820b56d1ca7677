import { IncomingMessage } from "node:http";

/** A request as `oidc-provider` reads it. */
export interface RequestParts {
  readonly incoming: IncomingMessage;
  /** The path and query below the issuer. */
  readonly url: string;
  /** The body, read within the limits of the server. */
  readonly body: Uint8Array | undefined;
}

/**
 * A copy of a request with another path and body: the body was already read, and in place of an access
 * token it may have something that `oidc-provider` can look up.
 */
export function freshRequest({ incoming, url, body }: RequestParts): IncomingMessage {
  const request = new IncomingMessage(incoming.socket);
  request.method = incoming.method ?? "GET";
  request.url = url;
  request.httpVersionMajor = incoming.httpVersionMajor;
  request.httpVersionMinor = incoming.httpVersionMinor;
  request.httpVersion = incoming.httpVersion;
  request.headers = { ...incoming.headers };
  if (body !== undefined) {
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
