import type { CodecName } from "../rpc/rpc-exchange.ts";

/** What the content type of a request says of it. */
export interface SpokenProtocol {
  readonly name: "unary" | "stream" | "grpc_web" | "grpc_web_text";
  readonly codec: CodecName;
}

/** None of them can be sent by a form, or by a script of another site without a preflight. */
const TYPES: ReadonlyMap<string, SpokenProtocol> = new Map([
  ["application/proto", { name: "unary", codec: "proto" }],
  ["application/json", { name: "unary", codec: "json" }],
  ["application/connect+proto", { name: "stream", codec: "proto" }],
  ["application/connect+json", { name: "stream", codec: "json" }],
  ["application/grpc-web", { name: "grpc_web", codec: "proto" }],
  ["application/grpc-web+proto", { name: "grpc_web", codec: "proto" }],
  ["application/grpc-web+json", { name: "grpc_web", codec: "json" }],
  ["application/grpc-web-text", { name: "grpc_web_text", codec: "proto" }],
  ["application/grpc-web-text+proto", { name: "grpc_web_text", codec: "proto" }],
]);

/** The only parameter that says nothing else than the type does. */
const WITH_CHARSET = /^([^\s;]+)[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** The protocol of a content type; undefined where it is that of none. */
export function spokenBy(contentType: string): SpokenProtocol | undefined {
  const known = TYPES.get(contentType);
  if (known !== undefined) return known;
  const match = WITH_CHARSET.exec(contentType);
  return match === null ? undefined : TYPES.get((match[1] as string).toLowerCase());
}
