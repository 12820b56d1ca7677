import type { Message } from "@bufbuild/protobuf";
import { toServiceError } from "../error/to-service-error.ts";
import { errorBody } from "./error-body.ts";
import type { Exchange } from "./exchange.ts";
import type { ResponseEncoder } from "./response-encoder.ts";

const NDJSON = "application/x-ndjson";

/**
 * Sends a stream of messages, a line of JSON each. The response begins with the first
 * message, so that an error before it is answered as any other; a later one is the
 * last line, `{"error":{…}}`.
 */
export async function sendStream(
  exchange: Exchange,
  messages: AsyncIterable<unknown>,
  encode: ResponseEncoder,
): Promise<void> {
  const { response, incoming, requestId } = exchange;
  const isHead = incoming.method === "HEAD";
  let begun = false;
  // Of a client that has gone the call itself is told.
  response.on("error", () => undefined);
  try {
    for await (const message of messages) {
      const line = `${encode(message as Message)}\n`;
      if (!begun) exchange.begin(NDJSON);
      begun = true;
      if (isHead) break;
      count(exchange, line);
      if (!response.write(line)) await drained(exchange);
    }
    if (!begun) exchange.begin(NDJSON);
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (!begun) return exchange.fail(error);
    if (exchange.isLost) return exchange.leave();
    // A client that does not read is not told either.
    if (response.writableNeedDrain) response.destroy();
    else response.write(`${JSON.stringify({ error: errorBody(error, requestId) })}\n`);
  }
  response.end();
  exchange.leave();
}

function count({ call }: Exchange, line: string): void {
  if (call !== undefined) call.responseBytes += Buffer.byteLength(line);
}

/** Waits until the client has read on, has gone, or the call's time is up. */
function drained(exchange: Exchange): Promise<void> {
  const { response, call } = exchange;
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      call?.signal.removeEventListener("abort", done);
      resolve();
    };
    response.on("drain", done);
    call?.signal.addEventListener("abort", done);
    if (exchange.isLost || call?.signal.aborted === true) done();
  });
}
