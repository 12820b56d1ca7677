import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type Registry,
} from "@bufbuild/protobuf";
import type { HttpRoute } from "../../binding/service-binding.ts";
import type { CallHeaders } from "../../call/call-headers.ts";
import { invalidArgument } from "../../error/service-error.ts";
import { StartUpError } from "../../error/start-up-error.ts";
import type { ElementLimits } from "../../json/element-budget.ts";
import { fieldsByName } from "../../json/field-names.ts";
import { childOf } from "../../json/field-setter.ts";
import { type HttpBody, isHttpBody } from "../../json/http-body.ts";
import { compileJsonField, compileJsonMessage, type JsonDecoder } from "../../json/json-message.ts";
import type { MessageMemory } from "../../wire/message-budget.ts";
import { requireIdentity, requireJson, singleType } from "./content-type.ts";
import { compilePathVariables } from "./path-variables.ts";
import { compileQuery } from "./query-parameters.ts";

/** The parts of a request message. */
export interface RequestParts {
  /** The segments of the path, as they were sent. */
  readonly segments: readonly string[];
  readonly query: string;
  readonly headers: CallHeaders;
  /** Whether the request has a body, or may have one. */
  readonly hasBody: boolean;
  /** Reads the body; empty if there is none. */
  readBody(): Promise<Buffer>;
  /** Counts the memory of the decoded message. */
  readonly memory: MessageMemory;
}

/** Makes the request message of a call; throws `ServiceError`. Without a body nothing waits. */
export type RequestDecoder = (parts: RequestParts) => Message | Promise<Message>;

/**
 * Compiles `google.api.http` for one route: what the path, the query and the body bind. The path
 * takes precedence over the body, since it was used for routing; a body with another value is
 * refused.
 *
 * @throws StartUpError if the route does not fit the request message
 */
export function compileRequest(
  route: HttpRoute,
  input: DescMessage,
  registry: Registry,
  limits: ElementLimits,
): RequestDecoder {
  const bindPath = compilePathVariables(route, input);
  const bindQuery = compileQuery(route, input);
  const finish = (message: Message, { segments, query }: RequestParts): Message => {
    bindPath(message, segments);
    if (query !== "") bindQuery(message, query);
    return message;
  };
  if (route.body === undefined) {
    return (parts) => {
      if (!parts.hasBody) return finish(create(input), parts);
      return refuseBody(parts).then(() => finish(create(input), parts));
    };
  }
  const rawBody = compileRawBody(route.body, input);
  if (rawBody !== undefined) return async (parts) => finish(await rawBody(parts), parts);
  const decodeBody = compileBody(route.body, input, registry, limits);
  return async (parts) => {
    if (!parts.hasBody) return finish(create(input), parts);
    requireJson(parts.headers);
    const bytes = await parts.readBody();
    return finish(bytes.length === 0 ? create(input) : decodeBody(bytes, parts.memory), parts);
  };
}

/** An empty body counts as none, even if its length was not announced. */
async function refuseBody(parts: RequestParts): Promise<void> {
  const bytes = await parts.readBody();
  if (bytes.length > 0) throw invalidArgument("this request must not have a body");
}

function compileBody(
  body: string,
  input: DescMessage,
  registry: Registry,
  limits: ElementLimits,
): JsonDecoder {
  return body === "*"
    ? compileJsonMessage(input, registry, limits)
    : compileJsonField(fieldOf(body, input), registry, limits);
}

function fieldOf(body: string, input: DescMessage): DescField {
  const field = fieldsByName(input).get(body);
  if (field === undefined) {
    throw new StartUpError([
      `${input.typeName} has no field "${body}" to be a body: run buf generate again`,
    ]);
  }
  return field;
}

/**
 * Compiles how a body is read that is a `google.api.HttpBody`: unchanged, with its
 * Content-Type. A field is set where either was sent.
 *
 * @returns undefined if the body is JSON
 */
function compileRawBody(
  body: string,
  input: DescMessage,
): ((parts: RequestParts) => Promise<Message>) | undefined {
  if (body === "*") {
    if (!isHttpBody(input)) return undefined;
    return async (parts) => {
      const request = create(input);
      await readInto(request as HttpBody, parts);
      return request;
    };
  }
  const field = fieldsByName(input).get(body);
  if (field?.fieldKind !== "message" || !isHttpBody(field.message)) return undefined;
  return async (parts) => {
    const request = create(input);
    if (parts.hasBody || singleType(parts.headers) !== undefined) {
      await readInto(childOf(request, field) as HttpBody, parts);
    }
    return request;
  };
}

async function readInto(target: HttpBody, parts: RequestParts): Promise<void> {
  target.contentType = singleType(parts.headers) ?? "";
  if (!parts.hasBody) return;
  requireIdentity(parts.headers);
  const { buffer, byteOffset, length } = await parts.readBody();
  parts.memory.take(length);
  // As messages have their bytes, over either transport.
  target.data = new Uint8Array(buffer, byteOffset, length);
}
