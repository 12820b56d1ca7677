import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Metadata } from "@grpc/grpc-js";
import type { CallHeaders } from "../../call/call-headers.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { ClientCall } from "../call/client-call.ts";

/** The target of requests. */
interface RequestSink {
  write(data: Buffer): boolean;
  end(): unknown;
  once(event: "drain", listener: () => void): unknown;
}

/** Encodes a request, which may be a plain object. */
export function encodeRequest(input: DescMessage, request: unknown): Buffer {
  const bytes = toBinary(input, create(input, request as MessageInitShape<DescMessage>));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/**
 * Sends the requests of a stream, as fast as the server takes them.
 *
 * @param onError gets errors of the request stream itself
 * @returns a function that stops sending; the remaining requests are not read
 */
export function pumpRequests(
  { request, method }: ClientCall,
  sink: RequestSink,
  onError: (error: unknown) => void,
): () => void {
  const iterator = (request as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  let stopped = false;
  let wake = (): void => undefined;
  const run = async (): Promise<void> => {
    while (!stopped) {
      const step = await iterator.next();
      if (stopped) return;
      if (step.done === true) {
        sink.end();
        return;
      }
      if (sink.write(encodeRequest(method.input, step.value))) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        sink.once("drain", resolve);
      });
    }
  };
  run().catch((error: unknown) => {
    if (!stopped) onError(error);
  });
  return () => {
    if (stopped) return;
    stopped = true;
    wake();
    // A stream that is waiting for its next request is not awaited.
    void iterator.return?.()?.catch(() => undefined);
  };
}

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
