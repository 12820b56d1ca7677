import { connect, type Socket } from "node:net";
import { parseResponses, type RawResponse } from "../hostile/support/raw-http.ts";

/** More than any response has: a stream of a billion messages is not read to its end. */
const MAX_ANSWER = 128 * 1024;

/** A kept connection, which is opened again if the server has ended it. */
export class HttpConnection {
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /**
   * Sends bytes, and reads a number of responses, or those that arrive before the server ends the
   * connection. With `ends`, nothing more is sent on it.
   */
  exchange(text: string, heads: readonly boolean[], ends: boolean): Promise<RawResponse[]> {
    const socket = (this.#socket ??= this.#open());
    return new Promise((resolve) => {
      let received = "";
      const finish = (isOver: boolean) => {
        socket.off("data", onData).off("close", onClose).off("end", onClose);
        if (isOver) {
          this.#socket = undefined;
          socket.destroy();
        }
        resolve(parseResponses(received));
      };
      const onClose = () => finish(true);
      const onData = (chunk: Buffer) => {
        received += chunk.toString("latin1");
        if (received.length > MAX_ANSWER) return finish(true);
        const end = ends ? undefined : endOf(received, heads);
        if (end !== undefined) finish(end);
      };
      socket.on("data", onData).on("close", onClose).on("end", onClose);
      const bytes = Buffer.from(text, "latin1");
      if (ends) socket.end(bytes);
      else socket.write(bytes);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    socket.on("error", () => undefined);
    return socket;
  }
}

/** Whether the connection ends after all responses; undefined while some are missing. */
function endOf(text: string, heads: readonly boolean[]): boolean | undefined {
  let rest = text;
  for (let index = 0; index < heads.length; ) {
    const head = rest.indexOf("\r\n\r\n");
    if (head < 0) return undefined;
    const fields = rest.slice(0, head).toLowerCase();
    const status = Number(fields.slice(9, 12));
    rest = rest.slice(head + 4);
    if (status < 200) continue;
    const hasBody = heads[index] !== true && status !== 204 && status !== 304;
    if (hasBody && fields.includes("\r\ntransfer-encoding: chunked")) {
      const end = rest.startsWith("0\r\n\r\n") ? 0 : rest.indexOf("\r\n0\r\n\r\n");
      if (end < 0) return undefined;
      rest = rest.slice(end === 0 && rest.startsWith("0\r\n\r\n") ? 5 : end + 7);
    } else if (hasBody) {
      const length = Number(/\r\ncontent-length: (\d+)/.exec(fields)?.[1] ?? 0);
      if (rest.length < length) return undefined;
      rest = rest.slice(length);
    }
    if (fields.includes("\r\nconnection: close")) return true;
    index++;
  }
  return false;
}
