import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
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
