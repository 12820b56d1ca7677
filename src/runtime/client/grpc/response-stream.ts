import { type DescMessage, fromBinary } from "@bufbuild/protobuf";
import type { Metadata } from "@grpc/grpc-js";
import type { CallHeaders } from "../../call/call-headers.ts";
import { ServiceError } from "../../error/service-error.ts";

/** A stream of responses under way. */
export interface ResponseStream {
  /** The end as reported by grpc-js, which reports it only once. */
  error: unknown;
  readonly explain: (error: unknown) => unknown;
  readonly leave: () => void;
}

/** Decodes the responses as they are read; leaving them ends the call. */
export async function* decodeResponses(
  received: AsyncIterable<Buffer>,
  output: DescMessage,
  state: ResponseStream,
): AsyncGenerator<unknown> {
  try {
    for await (const data of received) yield decodeResponse(output, data);
    if (state.error !== undefined) throw state.error;
  } catch (error) {
    throw error instanceof ServiceError ? error : state.explain(error);
  } finally {
    state.leave();
  }
}

/** @throws ServiceError INTERNAL for an invalid message */
export function decodeResponse(output: DescMessage, data: Buffer | undefined): unknown {
  try {
    const bytes = data as Buffer;
    return fromBinary(output, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch (error) {
    throw new ServiceError("INTERNAL", `the response is not a valid ${output.typeName}`, {
      cause: error,
    });
  }
}

/** The metadata of a response, as grpc-js gives them; binary values in base64. */
export class ResponseHeaders implements CallHeaders {
  readonly #metadata: Metadata;

  constructor(metadata: Metadata) {
    this.#metadata = metadata;
  }

  all(name: string): readonly string[] {
    return this.#metadata
      .get(name)
      .map((value) => (typeof value === "string" ? value : value.toString("base64")));
  }

  names(): Iterable<string> {
    return Object.keys(this.#metadata.getMap());
  }
}
