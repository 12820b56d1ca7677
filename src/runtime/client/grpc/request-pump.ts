import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { ClientCall } from "../call/client-call.ts";

/** What requests are written to. */
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
 * @param onError gets what the stream of requests itself throws
 * @returns stops sending; the rest of the requests is not asked for
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
    // One that waits for its next request is not waited for.
    void iterator.return?.()?.catch(() => undefined);
  };
}
