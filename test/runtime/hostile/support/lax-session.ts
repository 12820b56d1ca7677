import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { Field } from "./raw-http.ts";

/** A client connection that may send fields twice, which Node's client refuses. */
export function laxSession(port: number): ClientHttp2Session {
  const options = { strictSingleValueFields: false } as ClientSessionOptions;
  const session = connect(`http://127.0.0.1:${port}`, options);
  session.on("error", () => undefined);
  return session;
}

/** Fields as metadata: names in lower case, several values of a name as a list. */
export function metadataOf(fields: readonly Field[]): OutgoingHttpHeaders {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of fields) (headers[name.toLowerCase()] ??= []).push(value);
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  );
}
