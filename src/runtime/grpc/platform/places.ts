import type { Peer } from "../../call/peer.ts";
import { Deadlines } from "../../chain/deadlines.ts";
import { ServiceError } from "../../error/service-error.ts";

/** What is the same for all that share places. */
export interface PlacesOptions {
  /** For messages, such as `watchers of health`. */
  readonly what: string;
  readonly most: number;
  readonly mostOfConnection: number;
  /** How long a call may have its place. */
  readonly milliseconds: number;
  /** How long its client may be silent; absent, as long. */
  readonly silenceMs?: number;
}

/** The places of calls that last: so many of the process, and so many of each connection. */
export class Places {
  readonly milliseconds: number;
  readonly time: Deadlines;
  readonly silence: Deadlines | undefined;
  readonly #options: PlacesOptions;
  readonly #taken = new Map<Peer, number>();
  #all = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.milliseconds = options.milliseconds;
    this.time = new Deadlines(options.milliseconds);
    this.silence = options.silenceMs === undefined ? undefined : new Deadlines(options.silenceMs);
  }

  /**
   * Takes a place for a call of a connection, which has one peer.
   *
   * @throws ServiceError RATE_LIMITED where none is left
   */
  take(peer: Peer): void {
    const { what, most, mostOfConnection } = this.#options;
    const own = this.#taken.get(peer) ?? 0;
    if (own >= mostOfConnection) {
      throw new ServiceError(
        "RATE_LIMITED",
        `this connection has ${own} ${what}, the most there may be`,
      );
    }
    if (this.#all >= most) {
      throw new ServiceError("RATE_LIMITED", `there are ${most} ${what}, the most there may be`);
    }
    this.#taken.set(peer, own + 1);
    this.#all++;
  }

  /** Gives a place back. */
  free(peer: Peer): void {
    const left = (this.#taken.get(peer) ?? 1) - 1;
    if (left === 0) this.#taken.delete(peer);
    else this.#taken.set(peer, left);
    this.#all--;
  }
}
