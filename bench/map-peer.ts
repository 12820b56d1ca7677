/**
 * What engines in memory are measured by: random look-ups in a `Map` of a million strings in the same
 * process. It waits for the memory of the machine as they do.
 */
const ENTRIES = 1_000_000;
const FILLS = 3;

/** A full `Map`, and what it cost. */
export class MapPeer {
  /** How long it takes to fill one, in milliseconds. */
  readonly fillMs: number;
  /** What an entry takes in memory. */
  readonly entryBytes: number;
  readonly #map: ReadonlyMap<string, number>;

  private constructor(map: ReadonlyMap<string, number>, fillMs: number, entryBytes: number) {
    this.#map = map;
    this.fillMs = fillMs;
    this.entryBytes = entryBytes;
  }

  static async fill(collect: () => Promise<void>): Promise<MapPeer> {
    let map = new Map<string, number>();
    let fastest = Number.POSITIVE_INFINITY;
    let bytes = 0;
    for (let turn = 0; turn < FILLS; turn++) {
      map = new Map();
      await collect();
      const before = process.memoryUsage().heapUsed;
      const begin = performance.now();
      for (let index = 0; index < ENTRIES; index++) map.set(keyOf(index), index);
      fastest = Math.min(fastest, performance.now() - begin);
      await collect();
      bytes = process.memoryUsage().heapUsed - before;
    }
    return new MapPeer(map, fastest, bytes / ENTRIES);
  }

  /** A key that is there, as a string that nobody has seen. */
  key(random: () => number): string {
    return keyOf(Math.floor(random() * ENTRIES));
  }

  /** What is kept by a key. */
  get(key: string): number | undefined {
    return this.#map.get(key);
  }

  /** How long a look-up takes on average, in microseconds. */
  lookupUs(random: () => number): number {
    const [rounds, batch] = [200, 1_000];
    let total = 0;
    let found = 0;
    for (let round = -rounds / 10; round < rounds; round++) {
      const keys = Array.from({ length: batch }, () => this.key(random));
      const begin = performance.now();
      for (const key of keys) if (this.#map.get(key) !== undefined) found++;
      if (round >= 0) total += performance.now() - begin;
    }
    if (found === 0) throw new Error("no key was found");
    return (total / rounds / batch) * 1e3;
  }
}

function keyOf(index: number): string {
  return `entry:k${index}`;
}
