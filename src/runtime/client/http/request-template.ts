import {
  clearField,
  clone,
  create,
  type DescMessage,
  type DescMethod,
  equals,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import type { HttpRoute } from "../../binding/service-binding.ts";
import { ServiceError } from "../../error/service-error.ts";
import { fieldsByName, hasOwnJsonForm, isWrapperMessage } from "../../json/field-names.ts";
import { valueOf } from "../../json/field-setter.ts";
import { type HttpBody, holdsHttpBody, isHttpBody } from "../../json/http-body.ts";
import { expandPath, queryOf } from "./expand-path.ts";
import { jsonOptions, jsonValueOf } from "./json-options.ts";

/** A request over HTTP. */
export interface HttpRequestParts {
  readonly method: string;
  /** The path and the query, encoded. */
  readonly target: string;
  /** Absent if nothing is sent. */
  readonly body?: string | Uint8Array;
  /** The Content-Type; absent for none. */
  readonly contentType?: string;
  /** The route that was taken. */
  readonly route: HttpRoute;
}

/**
 * Makes the HTTP request of a message, by the first route whose path it can fill.
 *
 * @throws ServiceError INVALID_ARGUMENT if it can fill none, UNIMPLEMENTED if none brings the response
 */
export function httpRequestOf(
  routes: readonly HttpRoute[],
  method: DescMethod,
  request: unknown,
): HttpRequestParts {
  const message = create(method.input, request as MessageInitShape<DescMessage>);
  let problem: ServiceError | undefined;
  for (const route of routes) {
    // What answers a HEAD has no body, so no fields.
    if (route.method === "HEAD" && method.output.fields.length > 0) continue;
    const parts = partsOf(route, method, message);
    if (!(parts instanceof ServiceError)) return parts;
    problem ??= parts;
  }
  throw (
    problem ??
    new ServiceError("UNIMPLEMENTED", `${method.name} has no route that returns its response`)
  );
}

/** The request by one route; an error where the message does not fill its path. */
function partsOf(
  route: HttpRoute,
  method: DescMethod,
  message: Message,
): HttpRequestParts | ServiceError {
  const { input } = method;
  const { rest, raw } = takeRawBody(route, input, message);
  // Taken apart below, so each route needs JSON of its own.
  const json = toJson(input, rest, jsonOptions(method, input));
  const fields = fieldsOf(input, rest, json);
  try {
    const path = expandPath(route, input, fields);
    if (path instanceof ServiceError) return path;
    const body = raw === undefined ? jsonBody(route, input, json, fields) : rawBody(raw);
    const query = route.body === "*" ? "" : queryOf(input, fields);
    return {
      method: route.method === "*" ? "POST" : route.method,
      target: query === "" ? path : `${path}?${query}`,
      ...body,
      route,
    };
  } catch (cause) {
    if (!(cause instanceof URIError)) throw cause;
    throw new ServiceError("INVALID_ARGUMENT", "a string of the request is not valid Unicode", {
      cause,
    });
  }
}

/** The fields of a message by their JSON names, which a path and a query take them from. */
function fieldsOf(input: DescMessage, message: Message, json: JsonValue): JsonObject {
  if (!hasOwnJsonForm(input)) return json as JsonObject;
  if (equals(input, message, create(input))) return {};
  if (isWrapperMessage(input)) return { value: json };
  // None of them can be chosen: a body must have it.
  return { [input.typeName]: json };
}

type Body = Pick<HttpRequestParts, "body" | "contentType">;

function rawBody({ data, contentType }: RawBody): Body {
  return {
    ...(data.length === 0 ? {} : { body: data }),
    ...(contentType === "" ? {} : { contentType }),
  };
}

/** Takes what goes into the body out of the fields. */
function jsonBody(
  { body }: HttpRoute,
  input: DescMessage,
  json: JsonValue,
  fields: JsonObject,
): Body {
  if (body === undefined) return {};
  if (body === "*") return jsonOf(json);
  const field = fieldsByName(input).get(body);
  if (field === undefined) throw new Error(`${input.typeName} has no field "${body}"`);
  const value = jsonValueOf(fields, field);
  delete fields[field.jsonName];
  // Without a body a field of any kind is unchanged; for some kinds a null would be a value.
  return value === undefined ? {} : jsonOf(value);
}

function jsonOf(json: JsonValue): Body {
  return { body: JSON.stringify(json), contentType: "application/json" };
}

/** A `google.api.HttpBody` as HTTP carries it. */
export type RawBody = Pick<HttpBody, "contentType" | "data">;

const NOTHING: RawBody = { contentType: "", data: new Uint8Array() };

/**
 * Takes the body of a request that is a `google.api.HttpBody`; the rest goes into path and query.
 *
 * @returns `raw` undefined if the body of the route is JSON
 * @throws ServiceError INVALID_ARGUMENT for extensions, which HTTP has no place for
 */
function takeRawBody(
  { body }: HttpRoute,
  input: DescMessage,
  message: Message,
): { rest: Message; raw: RawBody | undefined } {
  if (body === undefined) return { rest: message, raw: undefined };
  if (body === "*") {
    return { rest: message, raw: isHttpBody(input) ? checked(message as HttpBody) : undefined };
  }
  const field = fieldsByName(input).get(body);
  if (field === undefined || !holdsHttpBody(field)) return { rest: message, raw: undefined };
  const held = valueOf(message, field) as HttpBody | undefined;
  const rest = clone(input, message);
  clearField(rest, field);
  return { rest, raw: held === undefined ? NOTHING : checked(held) };
}

function checked(held: HttpBody): RawBody {
  if ((held.extensions ?? []).length > 0) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "the extensions of a google.api.HttpBody cannot be sent over HTTP",
    );
  }
  return held;
}
