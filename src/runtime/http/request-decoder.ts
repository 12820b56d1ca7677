import {
  create,
  type DescMessage,
  fromJson,
  type JsonReadOptions,
  type JsonValue,
  type Message,
  mergeFromJson,
  type Registry,
} from "@bufbuild/protobuf";
import type { CallHeaders } from "../call/call-headers.ts";
import type { HttpRoute } from "../service-binding.ts";
import { requireJson } from "./content-type.ts";
import { fieldsByName } from "./field-names.ts";
import { invalidArgument } from "./invalid-argument.ts";
import { describeJsonProblem } from "./json-problem.ts";
import { parseJson } from "./parse-json.ts";
import { compilePathVariables } from "./path-variables.ts";
import { compileQuery } from "./query-parameters.ts";

/** What a request message is made of. */
export interface RequestParts {
  /** The segments of the path, as they were sent. */
  readonly segments: readonly string[];
  readonly query: string;
  readonly headers: CallHeaders;
  /** Whether the request has a body, or may have one. */
  readonly hasBody: boolean;
  /** Reads the body; empty where there is none. */
  readBody(): Promise<Buffer>;
}

/** Makes the request message of a call; throws `ServiceError`. Without a body nothing waits. */
export type RequestDecoder = (parts: RequestParts) => Message | Promise<Message>;

/**
 * Compiles `google.api.http` for one route: what the path, the query and the body bind.
 * The path wins over the body, as it is what was routed; a body that says otherwise is
 * refused.
 *
 * @throws Error where the route does not fit the request message
 */
export function compileRequest(
  route: HttpRoute,
  input: DescMessage,
  registry: Registry,
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
  const decodeBody = compileBody(route.body, input, registry);
  return async (parts) => {
    if (!parts.hasBody) return finish(create(input), parts);
    requireJson(parts.headers);
    const bytes = await parts.readBody();
    return finish(bytes.length === 0 ? create(input) : decodeBody(parseJson(bytes)), parts);
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
): (json: JsonValue) => Message {
  const options: Partial<JsonReadOptions> = { registry };
  const refuse = (json: JsonValue, cause: unknown): never => {
    throw invalidArgument(describeJsonProblem(input, json, registry), cause);
  };
  if (body === "*") {
    return (json) => {
      try {
        return fromJson(input, json, options);
      } catch (cause) {
        return refuse(json, cause);
      }
    };
  }
  const field = fieldsByName(input).get(body);
  if (field === undefined) throw new Error(`${input.typeName} has no field "${body}" to be a body`);
  return (value) => {
    const json = { [field.jsonName]: value };
    try {
      return mergeFromJson(input, create(input), json, options);
    } catch (cause) {
      return refuse(json, cause);
    }
  };
}
