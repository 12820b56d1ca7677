import { setImmediate as nextTurn } from "node:timers/promises";
import { toServiceError } from "../../error/to-service-error.ts";
import { DEFAULT_TYPE } from "../../json/http-body.ts";
import type { EncodedResponse } from "../transcoding/response-encoder.ts";
import { errorBody } from "./error-body.ts";
import type { Exchange } from "./exchange.ts";
import { countUnread, drained } from "./slow-clients.ts";

/**
 * After how many messages other calls get a turn: a handler that never waits would otherwise fill
 * the connection before anybody else is served.
 */
const MESSAGES_A_TURN = 64;

const NDJSON = "application/x-ndjson";

/**
 * Sends a stream of messages, one line of JSON each. The response begins with the first message, so
 * that an earlier error is sent like any other; a later error is the last line, `{"error":{…}}`.
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
 * Sends a stream of bodies one after another, with the type of the first one. Bytes have no place
 * for a later error, so the connection is closed: the client detects that the body is incomplete.
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
  /** The content type of the response, from its first message. */
  contentType(first: EncodedResponse | undefined): string;
  chunk(message: EncodedResponse): string | Uint8Array;
  /** How an error is reported after messages; undefined if that is not possible. */
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
  // The call itself is notified when the client has disconnected.
  response.on("error", () => undefined);
  try {
    for await (const message of messages) {
      if (!begun) exchange.begin(form.contentType(message));
      exchange.account.lasts(exchange.giveWay);
      begun = true;
      if (isHead) break;
      const chunk = form.chunk(message);
      const bytes = Buffer.byteLength(chunk);
      if (exchange.call !== undefined) exchange.call.responseBytes += bytes;
      if (!response.write(chunk)) {
        const taken = countUnread(exchange, bytes);
        await drained(response, exchange.call?.signal);
        taken();
      }
      if (++sent % MESSAGES_A_TURN === 0) await nextTurn();
    }
    if (!begun) exchange.begin(form.contentType(undefined));
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (!begun) {
      exchange.fail(error);
      return;
    }
    if (exchange.isLost) return exchange.leave();
    const words = form.lastWords(errorBody(error, requestId));
    // A client that does not read does not get the error either.
    if (words === undefined || response.writableNeedDrain) return exchange.cutOff();
    return exchange.close(words);
  }
  exchange.close();
}
