import type { Socket } from "node:net";
import { memoryOfConnection, type RequestBudget } from "../wire/message-budget.ts";
import type { ConnectionLimits } from "./connection-limits.ts";
import { type ArrivedStream, Http2Connection } from "./http2-connection.ts";

/** How often connections are checked, in milliseconds. */
const CHECK_EVERY_MS = 1000;

/** The options that the HTTP/2 connections of a server share. */
export interface Http2ConnectionsOptions {
  readonly limits: ConnectionLimits;
  readonly budget: RequestBudget;
  readonly onStream: (arrived: ArrivedStream) => void;
}

/** The HTTP/2 connections of a server. They are accepted elsewhere. */
export class Http2Connections {
  readonly #options: Http2ConnectionsOptions;
  readonly #open = new Set<Http2Connection>();
  #checks: NodeJS.Timeout | undefined;
  #isDraining = false;
  #whenEmpty: (() => void)[] = [];

  constructor(options: Http2ConnectionsOptions) {
    this.#options = options;
  }

  /** Serves a connection whose first byte is not read yet. */
  accept(socket: Socket): void {
    if (socket.destroyed) return;
    const { limits, budget, onStream } = this.#options;
    const own = memoryOfConnection(budget);
    const connection = new Http2Connection(socket, limits, own, onStream, (closed) => {
      this.#open.delete(closed);
      if (this.#open.size === 0) this.#emptied();
    });
    this.#open.add(connection);
    this.#checks ??= setInterval(() => this.#check(), CHECK_EVERY_MS).unref();
    if (this.#isDraining) connection.end();
  }

  /** Ends all connections without a call, and the others when they have none; then resolves. */
  drain(): Promise<void> {
    this.#isDraining = true;
    for (const connection of this.#open) connection.end();
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  /** Ends all at once. */
  close(): void {
    this.#isDraining = true;
    for (const connection of this.#open) connection.destroy();
  }

  #check(): void {
    const now = performance.now();
    for (const connection of this.#open) connection.check(now);
  }

  #emptied(): void {
    clearInterval(this.#checks);
    this.#checks = undefined;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}
