import { reportedError, type ServiceError } from "../../error/service-error.ts";
import type { EncodedResponse } from "../transcoding/response-encoder.ts";
import { callHeaders, errorHeaders } from "./call-response-headers.ts";
import { sendComplete } from "./complete-response.ts";
import { errorBody } from "./error-body.ts";
import { asksToClose, hasRestToRead } from "./read-body.ts";
import { RequestUnderWay } from "./request-under-way.ts";
import { discardHeaders, sendHead } from "./response-head.ts";
import { boundSendingOnceEnded, cutOffConnection, guardSending, linger } from "./slow-clients.ts";

/** The status and the body of an error. */
export interface ErrorContent {
  readonly status: number;
  readonly body: string | Uint8Array;
}

/** One request and its response, from the first byte to the last: the ways to respond. */
export class Exchange extends RequestUnderWay {
  /** Sends a complete response. */
  send(status: number, body: string | Uint8Array, headers: string[]): void {
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    const isBodiless = status === 204 || status === 304;
    if (length > 0 || !isBodiless) headers.push("Content-Length", String(length));
    if (this.call !== undefined) {
      this.call.responseBytes = isBodiless || this.incoming.method === "HEAD" ? 0 : length;
      this.call.responseStatus = status;
      this.call.sentStatus = status;
    }
    sendComplete(this, status, headers, body, length);
  }

  /** Sends a response of the handler. */
  sendEncoded({ contentType, body }: EncodedResponse): void {
    this.send(200, body, callHeaders(this.call, contentType));
  }

  /**
   * Sends an error to the caller; does nothing if the response has begun, which can then only be
   * cut off.
   *
   * @returns the status that is sent
   * @param form renders it in another form than that of the server, and may change its headers
   * @throws what `form` throws, and an Error if its headers cannot be sent; nothing is sent then
   */
  fail(
    error: ServiceError,
    extra: readonly string[] = [],
    form?: (headers: string[]) => ErrorContent | undefined,
  ): number {
    if (this.isLost || this.response.destroyed) {
      this.leave();
      return error.status;
    }
    if (this.response.headersSent) {
      this.response.destroy();
      this.leave();
      return error.status;
    }
    // Raw handlers may have set some for the response that is replaced.
    discardHeaders(this.response);
    const headers = errorHeaders(error, this.call, extra);
    const { status, body } = form?.(headers) ?? {
      status: error.status,
      body: JSON.stringify(errorBody(error, this.requestId)),
    };
    this.send(status, body, headers);
    return status;
  }

  /** Sends an error to the caller before its protocol is known, by the status. */
  failInText(error: ServiceError, extra: readonly string[]): void {
    const headers = ["Content-Type", "text/plain; charset=utf-8", "Cache-Control", "no-store"];
    this.send(error.status, `${reportedError(error).message}\n`, [...headers, ...extra]);
  }

  /** Begins a response of several parts. */
  begin(contentType: string): void {
    this.open(callHeaders(this.call, contentType));
  }

  /** The same, with these headers. */
  open(headers: string[]): void {
    // What its client sends after a body that nobody reads would be lost with the connection.
    const hasRest = !this.connection.isMultiplexed && hasRestToRead(this.incoming);
    sendHead(this, 200, headers, hasRest);
  }

  /** Ends a response of several parts. Further data from the client is not read. */
  close(last?: string | Uint8Array): void {
    const { response, incoming, connection } = this;
    const { limits } = this.state;
    // An HTTP/2 stream ends by itself.
    const hasRest = !connection.isMultiplexed && !incoming.complete;
    // At its end Node closes the connection, unless it is kept alive.
    const endsLater = hasRest && (connection.isClosing || asksToClose(incoming));
    if (!endsLater) response.end(last);
    else if (last === undefined) response.flushHeaders();
    else response.write(last);
    if (!response.writableFinished) {
      guardSending(this, last === undefined ? 0 : Buffer.byteLength(last), limits.sendTimeoutMs);
    }
    if (hasRest) {
      linger(incoming, limits, () => {
        if (endsLater) response.end();
        else if (!incoming.complete) incoming.destroy();
      });
    }
    this.leave();
  }

  /** Breaks off a response of several parts, after what was written of it. */
  cutOff(): void {
    const { response, connection } = this;
    // A stream is reset, and its connection continues.
    if (connection.isMultiplexed) response.destroy(new Error("the response is cut off"));
    else cutOffConnection(response, this.incoming, this.state.limits.sendTimeoutMs);
    this.leave();
  }

  /**
   * Ends the exchange once a response is sent that a raw handler writes, and perhaps has not ended
   * yet.
   */
  leaveWhenSent(): void {
    const { response } = this;
    if (response.writableFinished || response.destroyed) return this.leave();
    response.once("close", () => this.leave());
    boundSendingOnceEnded(response, this.state.limits.sendTimeoutMs);
  }
}
