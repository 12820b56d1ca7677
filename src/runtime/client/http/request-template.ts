import {
  create,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import { ServiceError } from "../../error/service-error.ts";
import { fieldsByName } from "../../http/field-names.ts";
import type { HttpRoute } from "../../service-binding.ts";
import { expandPath } from "./expand-path.ts";
import { queryOf } from "./query-string.ts";

/** A request as HTTP has it. */
export interface HttpRequestParts {
  readonly method: string;
  /** The path and the query, encoded. */
  readonly target: string;
  readonly body: string | undefined;
  /** The route that was taken. */
  readonly route: HttpRoute;
}

/**
 * Makes the HTTP request of a message, by the first route whose path it can fill.
 *
 * @throws ServiceError INVALID_ARGUMENT where it can fill none
 */
export function httpRequestOf(
  routes: readonly HttpRoute[],
  input: DescMessage,
  request: unknown,
): HttpRequestParts {
  const message = create(input, request as MessageInitShape<DescMessage>);
  let problem: ServiceError | undefined;
  for (const route of routes) {
    // Taken apart below, so each route needs one of its own.
    const json = toJson(input, message) as JsonObject;
    const path = expandPath(route, input, json);
    if (path instanceof ServiceError) {
      problem ??= path;
      continue;
    }
    const body = takeBody(route, input, json);
    const query = body === json ? "" : queryOf(input, json);
    return {
      method: route.method === "*" ? "POST" : route.method,
      target: query === "" ? path : `${path}?${query}`,
      body: body === undefined ? undefined : JSON.stringify(body),
      route,
    };
  }
  throw problem ?? new ServiceError("UNIMPLEMENTED", "the RPC has no HTTP route");
}

/** Takes what goes into the body out of the JSON form. */
function takeBody(
  { body }: HttpRoute,
  input: DescMessage,
  json: JsonObject,
): JsonValue | undefined {
  if (body === undefined) return undefined;
  if (body === "*") return json;
  const field = fieldsByName(input).get(body);
  if (field === undefined) throw new Error(`${input.typeName} has no field "${body}"`);
  const value = json[field.jsonName];
  delete json[field.jsonName];
  if (value !== undefined) return value;
  // Null is the default of every field.
  return field.fieldKind === "message" ? {} : null;
}
