import { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";

/** Parameters, results and events of whichever domain. */
export type Message = Readonly<Record<string, any>>;

interface Waiting {
  readonly resolve: (result: Message) => void;
  readonly reject: (error: Error) => void;
}

/** The DevTools protocol of a Chromium with `--remote-debugging-pipe`. */
export class DevTools {
  readonly #out: Writable;
  readonly #waiting = new Map<number, Waiting>();
  /** Emits each event by its session and name, with its parameters. */
  readonly #events = new EventEmitter();
  #last = 0;

  constructor(out: Writable, back: Readable) {
    this.#out = out;
    out.on("error", () => undefined);
    back.on("error", () => undefined);
    let text = "";
    back.setEncoding("utf8").on("data", (chunk: string) => {
      const parts = (text + chunk).split("\0");
      text = parts.pop() ?? "";
      for (const part of parts) this.#receive(JSON.parse(part));
    });
    back.once("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("Chromium has ended"));
    });
  }

  /** Sends a command, and returns its result. */
  send(method: string, params: Message = {}, sessionId?: string): Promise<Message> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#out.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** The next event of a session that fits. */
  next(sessionId: string, method: string, fits: (params: Message) => boolean = () => true) {
    return new Promise<Message>((resolve) => {
      const name = `${sessionId} ${method}`;
      const listener = (params: Message) => {
        if (!fits(params)) return;
        this.#events.off(name, listener);
        resolve(params);
      };
      this.#events.on(name, listener);
    });
  }

  #receive({ id, method, params, sessionId, result, error }: Message): void {
    if (id === undefined) {
      this.#events.emit(`${sessionId} ${method}`, params);
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(`${error.message} ${error.data ?? ""}`));
  }
}
