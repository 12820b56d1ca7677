import { setImmediate as nextTurn } from "node:timers/promises";
import { toServiceError } from "../error/to-service-error.ts";
import { errorBody } from "./error-body.ts";
import type { Exchange } from "./exchange.ts";
import { DEFAULT_TYPE } from "./http-body.ts";
import type { EncodedResponse } from "./response-encoder.ts";

/**
 * The messages after which others get their turn: a handler that never waits would send all that
 * the connection takes before anybody else is served.
 */
const MESSAGES_A_TURN = 64;

const NDJSON = "application/x-ndjson";

/**
 * Sends a stream of messages, a line of JSON each. The response begins with the first
 * message, so that an error before it is answered as any other; a later one is the
 * last line, `{"error":{…}}`.
 */
export function sendLines(
  exchange: Exchange,
  messages: AsyncIterable<EncodedResponse>,
): Promise<void> {
  return sendStream(exchange, messages, {
    contentType: () => NDJSON,
    chunk: ({ body }) => `${body}\n`,
    // The end is told by the last line.
    lastWords: (error) => `${JSON.stringify({ error })}\n`,
  });
}

/**
 * Sends a stream of bodies behind each other, with the type of the first one. Bytes leave no
 * place to tell of a later error, so the connection is cut off: the client sees that it has not all.
 */
export function sendBytes(
  exchange: Exchange,
  messages: AsyncIterable<EncodedResponse>,
): Promise<void> {
  return sendStream(exchange, messages, {
    contentType: (first) => first?.contentType ?? DEFAULT_TYPE,
    chunk: ({ body }) => body,
    lastWords: () => undefined,
  });
}

/** How messages follow each other. */
interface StreamForm {
  /** The type of the response, by its first message. */
  contentType(first: EncodedResponse | undefined): string;
  chunk(message: EncodedResponse): string | Uint8Array;
  /** How an error is told behind messages; undefined where it cannot be. */
  lastWords(error: ReturnType<typeof errorBody>): string | undefined;
}

async function sendStream(
  exchange: Exchange,
  messages: AsyncIterable<EncodedResponse>,
  form: StreamForm,
): Promise<void> {
  const { response, incoming, requestId } = exchange;
  const isHead = incoming.method === "HEAD";
  let begun = false;
  let sent = 0;
  // Of a client that has gone the call itself is told.
  response.on("error", () => undefined);
  try {
    for await (const message of messages) {
      if (!begun) exchange.begin(form.contentType(message));
      exchange.account.lasts(exchange.giveWay);
      begun = true;
      if (isHead) break;
      const chunk = form.chunk(message);
      count(exchange, chunk);
      if (!response.write(chunk)) {
        const taken = exchange.unread(chunk.length);
        await drained(exchange);
        taken();
      }
      if (++sent % MESSAGES_A_TURN === 0) await nextTurn();
    }
    if (!begun) exchange.begin(form.contentType(undefined));
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (!begun) return exchange.fail(error);
    if (exchange.isLost) return exchange.leave();
    const words = form.lastWords(errorBody(error, requestId));
    // A client that does not read is not told either.
    if (words === undefined || response.writableNeedDrain) {
      cutOff(exchange);
      return exchange.leave();
    }
    response.write(words);
  }
  response.end();
  exchange.leave();
}

/** Ends a response without its end, behind what was written of it. */
function cutOff({ response, incoming, connection }: Exchange): void {
  const { socket } = response;
  // A stream is reset, and its connection goes on.
  if (connection.isMultiplexed) response.destroy(new Error("the response is cut off"));
  else if (socket === null || response.writableNeedDrain) response.destroy();
  // Of a client that knows no chunks the end of the connection is that of the response.
  else if (incoming.httpVersion === "1.0") socket.resetAndDestroy();
  else socket.destroySoon();
}

function count({ call }: Exchange, chunk: string | Uint8Array): void {
  if (call !== undefined) call.responseBytes += Buffer.byteLength(chunk);
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
