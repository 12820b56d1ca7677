import type { IncomingMessage } from "node:http";
import {
  create,
  type DescMethod,
  fromJson,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import type { HttpRoute } from "../../binding/service-binding.ts";
import { ServiceError } from "../../error/service-error.ts";
import { fieldsByName } from "../../json/field-names.ts";
import { childOf } from "../../json/field-setter.ts";
import { holdsHttpBody, isHttpBody } from "../../json/http-body.ts";
import { networkError } from "./http-error.ts";
import { jsonOptions } from "./json-options.ts";

/** Reads a body to its end, up to a limit. */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > maxBytes) throw responseTooLarge();
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : networkError(error as Error);
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size);
}

/** The lines of a body that never ends, each up to a limit. */
export async function* readLines(
  response: IncomingMessage,
  maxBytes: number,
): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
        pieces.push(piece.subarray(start, end));
        if (size + end - start > maxBytes) throw responseTooLarge();
        yield Buffer.concat(pieces).toString("utf8");
        pieces = [];
        size = 0;
        start = end + 1;
      }
      size += piece.length - start;
      if (size > maxBytes) throw responseTooLarge();
      if (start < piece.length) pieces.push(piece.subarray(start));
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : networkError(error as Error);
  }
  if (size > 0) throw new ServiceError("INTERNAL", "the response ends within a line");
}

/** Reads JSON; undefined if it is not valid. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Makes the JSON of a response the message that the RPC declares. */
export function messageOf(
  method: DescMethod,
  { responseBody }: HttpRoute,
  json: JsonValue | undefined,
): Message {
  const { output } = method;
  try {
    if (json === undefined) throw new SyntaxError("no JSON");
    const field = responseBody === undefined ? undefined : fieldsByName(output).get(responseBody);
    const whole = field === undefined ? json : { [field.jsonName]: json };
    return fromJson(output, whole, { ...jsonOptions(method, output), ignoreUnknownFields: true });
  } catch (error) {
    throw new ServiceError("INTERNAL", `the response is not a valid ${output.typeName}`, {
      cause: error,
    });
  }
}

/** Whether the response of a route is a `google.api.HttpBody`: bytes with a type, and not JSON. */
export function isRawResponse({ output }: DescMethod, { responseBody }: HttpRoute): boolean {
  return responseBody === undefined
    ? isHttpBody(output)
    : holdsHttpBody(fieldsByName(output).get(responseBody));
}

/** Makes the bytes of a response the message that the RPC declares. */
export function rawMessageOf(
  { output }: DescMethod,
  { responseBody }: HttpRoute,
  contentType: string,
  bytes: Buffer,
): Message {
  const data = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const message = create(output);
  const field = responseBody === undefined ? undefined : fieldsByName(output).get(responseBody);
  const held = field?.fieldKind === "message" ? childOf(message, field) : message;
  Object.assign(held, { contentType, data });
  return message;
}

/** The pieces of a body that never ends, as they come. */
export async function* readPieces(response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* response as AsyncIterable<Buffer>;
  } catch (error) {
    throw networkError(error as Error);
  }
}

function responseTooLarge(): ServiceError {
  return new ServiceError("INTERNAL", "the response is larger than the limit of this client");
}
