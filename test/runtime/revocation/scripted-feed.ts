import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type RevocationSchema,
  type WatchRevocationsResponse,
  WatchRevocationsResponseSchema,
} from "../../../src/gen/proto/svc/iam/v1/revocation_pb.ts";
import type { FeedConnection } from "../../../src/runtime/revocation/followed-revocations.ts";

type Init<Schema extends DescMessage> = Exclude<MessageInitShape<Schema>, Message>;

export type RevocationInit = Init<typeof RevocationSchema>;
export interface ResponseInit
  extends Omit<Init<typeof WatchRevocationsResponseSchema>, "revocations"> {
  readonly revocations?: RevocationInit[];
}

/** A server of revocations that sends what a test scripts, without a network. */
export class ScriptedFeed {
  readonly connections: ScriptedConnection[] = [];
  #waiting: ((connection: ScriptedConnection) => void)[] = [];
  /** Thrown instead of connecting. */
  failure: Error | undefined;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly connect = (position: string, signal: AbortSignal): FeedConnection => {
    if (this.failure !== undefined) throw this.failure;
    const connection = new ScriptedConnection(position, signal, this.#now);
    this.connections.push(connection);
    for (const wake of this.#waiting.splice(0)) wake(connection);
    return connection;
  };

  /** The connection with a number, from 0 on, once it is there. */
  async connection(number: number): Promise<ScriptedConnection> {
    while (this.connections.length <= number) {
      await new Promise<ScriptedConnection>((resolve) => this.#waiting.push(resolve));
    }
    return this.connections[number] as ScriptedConnection;
  }
}

export class ScriptedConnection implements FeedConnection {
  readonly position: string;
  readonly responses: AsyncIterable<WatchRevocationsResponse>;
  isClosed = false;
  readonly #now: () => number;
  readonly #sent: (WatchRevocationsResponse | Error | "end")[] = [];
  #wake: () => void = () => undefined;

  constructor(position: string, signal: AbortSignal, now: () => number) {
    this.position = position;
    this.#now = now;
    this.responses = this.#read(signal);
    signal.addEventListener("abort", () => this.fail(new Error("aborted")));
  }

  /** Sends a response, and waits until it was read and used. */
  async send(response: ResponseInit): Promise<void> {
    const time = timestampFromMs(this.#now());
    await this.#push(create(WatchRevocationsResponseSchema, { time, ...response }));
  }

  /** Sends all revocations at once. */
  snapshot(revocations: ResponseInit["revocations"] = [], position = "a.0"): Promise<void> {
    return this.send({ position, snapshotBegin: true, current: true, revocations });
  }

  fail(error: Error): Promise<void> {
    return this.#push(error);
  }

  end(): Promise<void> {
    return this.#push("end");
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  async #push(sent: WatchRevocationsResponse | Error | "end"): Promise<void> {
    this.#sent.push(sent);
    this.#wake();
    await new Promise((resolve) => setImmediate(resolve));
  }

  async *#read(signal: AbortSignal): AsyncGenerator<WatchRevocationsResponse> {
    for (;;) {
      const next = this.#sent.shift();
      if (next instanceof Error) throw next;
      if (next === "end") return;
      if (next !== undefined) yield next;
      else if (signal.aborted) throw new Error("aborted");
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
