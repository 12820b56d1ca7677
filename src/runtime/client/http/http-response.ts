import type { IncomingMessage } from "node:http";
import { type DescMessage, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { ServiceError } from "../../error/service-error.ts";
import { fieldsByName } from "../../http/field-names.ts";
import type { HttpRoute } from "../../service-binding.ts";
import { networkError } from "./http-error.ts";

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

/** Reads JSON; undefined where it is none. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Makes the JSON of a response the message that the RPC declares. */
export function messageOf(
  output: DescMessage,
  { responseBody }: HttpRoute,
  json: JsonValue | undefined,
): unknown {
  try {
    if (json === undefined) throw new SyntaxError("no JSON");
    const field = responseBody === undefined ? undefined : fieldsByName(output).get(responseBody);
    const whole = field === undefined ? json : { [field.jsonName]: json };
    return fromJson(output, whole, { ignoreUnknownFields: true });
  } catch (error) {
    throw new ServiceError("INTERNAL", `the response is no valid ${output.typeName}`, {
      cause: error,
    });
  }
}

function responseTooLarge(): ServiceError {
  return new ServiceError("INTERNAL", "the response is larger than this client takes");
}
