import type { DescExtension, DescField, DescMessage, Registry } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { BoundMethod } from "../binding/bound-method.ts";
import type { CallHeaders } from "../call/call-headers.ts";
import { ServiceError } from "../error/service-error.ts";
import type { Exchange } from "../http/exchange/exchange.ts";
import type { RequestTarget } from "../http/routing/request-target.ts";
import type { RpcProtocols } from "../http/routing/route-service.ts";
import { messageRegistry } from "../json/json-text.ts";
import type { CodecName, RpcExchange } from "../rpc/rpc-exchange.ts";
import type { ServedRpc } from "../rpc/serve-call.ts";
import { STREAM_FORMS, VERSION_HEADER } from "./connect/connect-error.ts";
import { UnaryExchange } from "./connect/unary-exchange.ts";
import { getRequestOf, PostedMessage } from "./connect/unary-message.ts";
import { EnvelopedExchange } from "./exchange/enveloped-exchange.ts";
import type { HttpRpcSettings } from "./exchange/http-exchange.ts";
import { WEB_FORMS, WEB_TEXT_FORM } from "./grpc-web/web-form.ts";

const POST: readonly string[] = ["POST"];
const GET_AND_POST: readonly string[] = ["GET", "POST"];

/** The options of serving RPCs over Connect and gRPC-Web. */
export interface WebProtocolsOptions extends HttpRpcSettings {
  readonly methods: readonly BoundMethod[];
  /** The RPC of a path, also a built-in one. */
  readonly find: (path: string) => ServedRpc | undefined;
}

/** Serves RPCs over Connect and gRPC-Web, at `/<package>.<Service>/<Method>`. */
export class WebProtocols implements RpcProtocols {
  readonly #options: WebProtocolsOptions;
  readonly #mayGet: ReadonlySet<string>;

  constructor(options: WebProtocolsOptions) {
    this.#options = options;
    const { methods } = options;
    let registry: Registry | undefined;
    const known = () => (registry ??= messageRegistry(methods));
    const readable = methods.filter((method) => mayGet(method, known));
    this.#mayGet = new Set(readable.map(({ rpc }) => `/${rpc}`));
  }

  /** @throws ServiceError UNSUPPORTED_MEDIA_TYPE */
  serve(http: Exchange, { path, query }: RequestTarget): boolean {
    const rpc = this.#options.find(path);
    if (rpc === undefined) return false;
    const { method } = http.incoming;
    const exchange =
      method === "POST"
        ? this.#posted(http, path, rpc)
        : (method === "GET" || method === "HEAD") && this.#mayGet.has(path)
          ? this.#got(http, path, query)
          : undefined;
    if (exchange === undefined) return false;
    void rpc.serve(exchange);
    return true;
  }

  methods(path: string): readonly string[] {
    if (this.#mayGet.has(path)) return GET_AND_POST;
    return this.#options.find(path) === undefined ? [] : POST;
  }

  isSpokenIn(headers: CallHeaders): boolean {
    if (headers.all(VERSION_HEADER).length > 0) return true;
    return headers.all("content-type").some((type) => OWN_TYPE.test(type));
  }

  #posted(http: Exchange, path: string, { isStreaming }: ServedRpc): RpcExchange | undefined {
    const types = http.headers.all("content-type");
    const spoken = types.length === 1 ? spokenBy(types[0] as string) : undefined;
    if (spoken === undefined) return undefined;
    const settings = this.#options;
    const { name, codec } = spoken;
    switch (name) {
      case "unary":
        if (codec === "json" && http.headers.all(VERSION_HEADER).length === 0) return undefined;
        if (isStreaming) throw otherKind(spoken);
        return new UnaryExchange(
          http,
          path,
          codec,
          settings,
          () => new PostedMessage(http, settings.limits.maxBytes),
        );
      case "stream":
        if (!isStreaming) throw otherKind(spoken);
        return new EnvelopedExchange(http, path, codec, settings, STREAM_FORMS[codec]);
      case "grpc_web":
        return new EnvelopedExchange(http, path, codec, settings, WEB_FORMS[codec]);
      case "grpc_web_text":
        return new EnvelopedExchange(http, path, codec, settings, WEB_TEXT_FORM);
    }
  }

  #got(http: Exchange, path: string, query: string): RpcExchange | undefined {
    const request = getRequestOf(query, this.#options.limits.maxBytes);
    if (request === undefined) return undefined;
    const { codec } = request;
    if (codec === undefined) {
      throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", 'encoding must be "proto" or "json"');
    }
    return new UnaryExchange(http, path, codec, this.#options, () => request.message());
  }
}

function otherKind({ name }: SpokenProtocol): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    name === "unary"
      ? "an RPC with streams is called as application/connect+proto or application/connect+json"
      : "an RPC without streams is called as application/proto or application/json",
  );
}

/**
 * Whether an RPC may be called by GET with its request in the query, which logs and histories keep
 * (docs/requirements.md, TRANS-3): it changes nothing, has a route of GET, is open to all callers, and no
 * field of its request is to be redacted.
 *
 * @param known what an Any may hold, and extensions
 */
export function mayGet(
  { kind, descriptor, policy, routes }: BoundMethod,
  known: () => Registry,
): boolean {
  return (
    kind === "unary" &&
    descriptor?.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS &&
    routes.some(({ method }) => method === "GET") &&
    policy.exposure !== "INTERNAL" &&
    policy.exposure !== "SYSTEM" &&
    !holdsRedacted(descriptor.input, known)
  );
}

/** Whether a message has, or may have, a field that is to be redacted, at any depth. */
function holdsRedacted(request: DescMessage, known: () => Registry): boolean {
  const messages = new Set([request]);
  // Iterating the set includes added ones.
  for (const message of messages) {
    for (const field of fieldsOf(message, known)) {
      if (field.proto.options?.debugRedact === true) return true;
      if (field.message !== undefined) messages.add(field.message);
    }
  }
  return false;
}

/** The fields that a message has or may have: an Any those of all messages, and the extensions of others count. */
function fieldsOf(
  message: DescMessage,
  known: () => Registry,
): readonly (DescField | DescExtension)[] {
  if (message.typeName === "google.protobuf.Any") {
    return [...known()].flatMap((type): readonly (DescField | DescExtension)[] => {
      if (type.kind === "message") return type.fields;
      return type.kind === "extension" ? [type] : [];
    });
  }
  if (message.proto.extensionRange.length === 0) return message.fields;
  const extensions = [...known()].filter((type) => type.kind === "extension");
  return [
    ...message.fields,
    ...extensions.filter(({ extendee }) => extendee.typeName === message.typeName),
  ];
}

/** The protocol of a content type. */
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

/** The type that routes have too. */
const SHARED_TYPE = "application/json";

/** The families of the other types: what begins so is of these protocols, also with a codec that they do not have. */
const FAMILIES: ReadonlySet<string> = new Set(
  [...TYPES.keys()]
    .filter((type) => type !== SHARED_TYPE)
    .map((type) => type.replace(/[-+].*$/, "")),
);

const OWN_TYPE = new RegExp(`^(?:${[...FAMILIES].join("|")})`, "i");

/** The only parameter that does not change the meaning of the type. */
const WITH_CHARSET = /^([^\s;]+)[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** The protocol of a content type; undefined if there is none. */
function spokenBy(contentType: string): SpokenProtocol | undefined {
  const known = TYPES.get(contentType);
  if (known !== undefined) return known;
  const match = WITH_CHARSET.exec(contentType);
  return match === null ? undefined : TYPES.get((match[1] as string).toLowerCase());
}
