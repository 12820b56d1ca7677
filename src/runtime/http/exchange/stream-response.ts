import { setImmediate as nextTurn } from "node:timers/promises";
import { toServiceError } from "../../error/to-service-error.ts";
import { DEFAULT_TYPE } from "../../json/http-body.ts";
import type { EncodedResponse } from "../transcoding/response-encoder.ts";
import { errorBody } from "./error-body.ts";
import type { Exchange } from "./exchange.ts";
import { drained } from "./slow-clients.ts";

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
    // The end is reported by the last line.
    lastWords: (error) => `${JSON.stringify({ error })}\n`,
  });
}

/**
 * Sends a stream of bodies one after another, with the type of the first one. Bytes leave no
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
  /** How an error is reported after messages; undefined where it cannot be. */
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
  // Of a client that has gone the call itself is notified.
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
        await drained(response, exchange.call?.signal);
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
    if (words === undefined || response.writableNeedDrain) return exchange.cutOff();
    return exchange.close(words);
  }
  exchange.close();
}

function count({ call }: Exchange, chunk: string | Uint8Array): void {
  if (call !== undefined) call.responseBytes += Buffer.byteLength(chunk);
}
