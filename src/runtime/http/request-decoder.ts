import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type Registry,
} from "@bufbuild/protobuf";
import type { MessageLimits } from "../json/element-budget.ts";
import { fieldsByName } from "../json/field-names.ts";
import { invalidArgument } from "../json/invalid-argument.ts";
import { compileJsonField, compileJsonMessage, type JsonDecoder } from "../json/json-message.ts";
import { StartUpError } from "../server/start-up-error.ts";
import type { HttpRoute } from "../service-binding.ts";
import { requireJson } from "./content-type.ts";
import { compilePathVariables } from "./path-variables.ts";
import { compileQuery } from "./query-parameters.ts";
import { compileRawBody } from "./raw-body.ts";
import type { RequestParts } from "./request-parts.ts";

/** Makes the request message of a call; throws `ServiceError`. Without a body nothing waits. */
export type RequestDecoder = (parts: RequestParts) => Message | Promise<Message>;

/**
 * Compiles `google.api.http` for one route: what the path, the query and the body bind.
 * The path wins over the body, as it is what was routed; a body that says otherwise is
 * refused.
 *
 * @throws StartUpError where the route does not fit the request message
 */
export function compileRequest(
  route: HttpRoute,
  input: DescMessage,
  registry: Registry,
  limits: MessageLimits,
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

/** A body of no bytes is none, also where its length was not announced. */
async function refuseBody(parts: RequestParts): Promise<void> {
  const bytes = await parts.readBody();
  if (bytes.length > 0) throw invalidArgument("the request takes no body");
}

function compileBody(
  body: string,
  input: DescMessage,
  registry: Registry,
  limits: MessageLimits,
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
