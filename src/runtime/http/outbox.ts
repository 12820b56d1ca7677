import type { ServerResponse } from "node:http";

interface Waiting {
  readonly response: ServerResponse;
  readonly body: string | Uint8Array;
  readonly sent: () => void;
}

/**
 * Sends the responses of one turn of the event loop one after the other, once all requests
 * that came in with it were looked at. A response that is written at once wakes its client in
 * the middle of the others' work, which costs more than most calls do.
 */
export class Outbox {
  #waiting: Waiting[] = [];

  /** @param sent is called once the response was handed to the connection */
  put(response: ServerResponse, body: string | Uint8Array, sent: () => void): void {
    this.#waiting.push({ response, body, sent });
    if (this.#waiting.length === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { response, body, sent } of waiting) {
      response.end(body);
      sent();
    }
  }
}
