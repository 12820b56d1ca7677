import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { IsolationLevel, Kysely, KyselyPlugin, Transaction } from "kysely";
import { within } from "../../common/within.ts";
import { type Database, IS_SHARED } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import { isFailure } from "../statement-failure.ts";

/** The options of a transaction. */
export interface TransactionOptions {
  /**
   * What a transaction sees of others at the same time, in PostgreSQL; `read committed` if absent.
   * In SQLite each one is alone.
   */
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  /** How often it is tried at most if others change the same rows; 5 if absent. */
  readonly attempts?: number;
  /** How long one attempt may take, in milliseconds; 10000 if absent. */
  readonly timeoutMs?: number;
}

const ATTEMPTS = 5;
const TIMEOUT_MS = 10_000;
const LONGEST_PAUSE_MS = 200;

/** The transactions of a database, one per asynchronous context. */
export class Transactions<Tables> {
  readonly #database: Database<Tables>;
  /** The transaction that the code that runs now is part of. */
  readonly #current = new AsyncLocalStorage<{ isOpen: boolean }>();

  constructor(database: Database<Tables>) {
    this.#database = database;
  }

  /** The database for statements of their own, which are refused in the work of a transaction. */
  outside(): Kysely<Tables> {
    const plugin: KyselyPlugin = {
      transformQuery: ({ node }) => {
        this.assertOutside();
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    return this.#database.kysely.withPlugin(plugin);
  }

  /** @throws Error in the work of a transaction, which a statement of its own would wait for */
  assertOutside(): void {
    this.#assertOutside("a statement of its own");
  }

  /** Runs work in a transaction, again if others change the same rows. */
  async run<Result>(
    work: (transaction: Transaction<Tables>) => Promise<Result>,
    { isolation, attempts = ATTEMPTS, timeoutMs = TIMEOUT_MS }: TransactionOptions = {},
  ): Promise<Result> {
    this.#assertOutside("a second transaction");
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(work, isolation, timeoutMs);
      } catch (error) {
        if (!isFailure("conflict", error)) throw error;
        if (attempt >= attempts) throw this.#conflict(attempt, error);
      }
      // Those that met would otherwise meet again.
      await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** attempt));
    }
  }

  async #once<Result>(
    work: (transaction: Transaction<Tables>) => Promise<Result>,
    isolation: IsolationLevel | undefined,
    timeoutMs: number,
  ): Promise<Result> {
    const { kysely, kind } = this.#database;
    const begin = kysely.transaction();
    const isolated =
      !IS_SHARED[kind] || isolation === undefined ? begin : begin.setIsolationLevel(isolation);
    let failure: { readonly error: unknown } | undefined;
    const running = isolated.execute(async (transaction) => {
      const state = { isOpen: true };
      try {
        const result = this.#current.run(state, () => work(transaction));
        return await within(result, timeoutMs, () => {
          throw this.#timeout(timeoutMs);
        });
      } catch (error) {
        failure = { error };
        throw error;
      } finally {
        state.isOpen = false;
      }
    });
    // If the rollback fails too, its error says less.
    return running.catch((error: unknown) => {
      throw failure === undefined ? error : failure.error;
    });
  }

  /** What is not part of the transaction would wait for it, forever in SQLite. */
  #assertOutside(what: string): void {
    if (this.#current.getStore()?.isOpen !== true) return;
    throw new Error(
      `${what} in the work of a transaction would wait for it: use the transaction that the work gets`,
    );
  }

  #timeout(timeoutMs: number): DatabaseError {
    return new DatabaseError(
      "UNAVAILABLE",
      `a transaction on ${this.#database.name} took longer than ${timeoutMs} ms and was rolled back: make it shorter, with nothing in it that waits for others, or raise timeoutMs`,
    );
  }

  #conflict(attempts: number, cause: unknown): DatabaseError {
    return new DatabaseError(
      "UNAVAILABLE",
      `a transaction on ${this.#database.name} was rolled back ${attempts} times, as others changed the same rows at the same time: change fewer rows in it, lock them in one order, or raise attempts`,
      { cause },
    );
  }
}
