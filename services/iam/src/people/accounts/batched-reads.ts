/** Reads of several records by their ids; those that there are. */
export type ReadAll<Value> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>;

/** How many records one query reads at most. */
const MOST = 32;

/** The reads that one query will serve. */
interface Batch<Value> {
  readonly ids: Set<string>;
  readonly result: Promise<ReadonlyMap<string, Value>>;
}

/**
 * Reads records by their ids. The reads that begin in one turn of the event loop become one query,
 * which begins after all of them: nothing is cached, so each sees what was stored before it began.
 */
export class BatchedReads<Value> {
  readonly #readAll: ReadAll<Value>;
  /** The batch of this turn, if it is not full. */
  #open: Batch<Value> | undefined;

  /** @param readAll one query for at most 32 ids, each of them once */
  constructor(readAll: ReadAll<Value>) {
    this.#readAll = readAll;
  }

  /** The record with an id; undefined where there is none. An error is that of the whole query. */
  async find(id: string): Promise<Value | undefined> {
    const batch = (this.#open ??= this.#begin());
    batch.ids.add(id);
    if (batch.ids.size === MOST) this.#open = undefined;
    return (await batch.result).get(id);
  }

  #begin(): Batch<Value> {
    const ids = new Set<string>();
    const result = new Promise<ReadonlyMap<string, Value>>((resolve, reject) => {
      setImmediate(() => {
        if (this.#open === batch) this.#open = undefined;
        this.#read(ids).then(resolve, reject);
      });
    });
    const batch = { ids, result };
    return batch;
  }

  async #read(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Value>> {
    return this.#readAll([...ids]);
  }
}
