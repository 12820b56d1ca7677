import { LocationReader, readServiceComments } from "./location-reader.ts";
import { IndexedLocations, keepFirst, NearestLocation } from "./rpc-locations.ts";
import {
  findServiceLocations,
  type LocationRuns,
  rpcAround,
  type ServiceLocations,
  type SourceLocation,
} from "./source-info.ts";

const IGNORE_BYTES = Buffer.from("buf:lint:ignore");
const IGNORE = /^\s*buf:lint:ignore\s+([A-Z0-9_]+)\b/;

/** The number of bytes beyond which the locations of an RPC are indexed, and not read again for each finding. */
const MANY_BYTES = 2048;

/** The locations of the services of a file, few of which are ever read. */
export class FileLocations {
  /** The rules that comments above services and RPCs ignore, by descriptor path joined with dots. */
  readonly ignored: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #reader: LocationReader;
  readonly #services: ServiceLocations;
  /** The locations of RPCs with many or large ones. */
  readonly #indexed = new Map<number, IndexedLocations>();
  /** The locations outside RPCs by descriptor path joined with dots; absent until one is needed. */
  #others: ReadonlyMap<string, SourceLocation> | undefined;

  /** @param sourceInfo - the encoded `SourceCodeInfo` */
  constructor(sourceInfo: Uint8Array) {
    const reader = new LocationReader(sourceInfo);
    this.#reader = reader;
    this.#services = findServiceLocations(sourceInfo, (offset) => {
      reader.read(offset);
      return reader.path.subarray(0, reader.depth);
    });
    this.ignored = ignoredRules(sourceInfo, this.#services);
  }

  /** The location of an element of an RPC, or of the RPC itself. */
  findInRpc(path: readonly number[]): SourceLocation | undefined {
    const rpc = rpcAround(path);
    const runs = rpc === undefined ? undefined : this.#services.rpcs.get(rpc);
    if (rpc === undefined || runs === undefined) return undefined;
    if (byteLengthOf(runs) > MANY_BYTES) return this.#indexOf(rpc, runs).find(path);
    // Most RPCs have few findings, so caching their locations would only take memory.
    const nearest = new NearestLocation(path);
    this.#reader.visit(runs, (location) => nearest.compare(location), path);
    return nearest.found;
  }

  #indexOf(rpc: number, runs: LocationRuns): IndexedLocations {
    const known = this.#indexed.get(rpc);
    if (known !== undefined) return known;
    const index = new IndexedLocations();
    this.#reader.visit(runs, (location) => index.add(location.copy()));
    this.#indexed.set(rpc, index);
    return index;
  }

  /** The location of the nearest element around a path, outside RPCs. */
  findAround(path: readonly number[]): SourceLocation | undefined {
    this.#others ??= this.#firstByPath(this.#services.others);
    for (let length = path.length; length > 0; length--) {
      const found = this.#others.get(path.slice(0, length).join("."));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #firstByPath(runs: LocationRuns): ReadonlyMap<string, SourceLocation> {
    const first = new Map<string, SourceLocation>();
    this.#reader.visit(runs, (reader) => {
      const location = reader.copy();
      keepFirst(first, location.path.join("."), location);
    });
    return first;
  }
}

function byteLengthOf(runs: LocationRuns): number {
  let length = 0;
  for (let run = 0; run < runs.length; run += 2) {
    length += (runs[run + 1] as number) - (runs[run] as number);
  }
  return length;
}

/** The ignored rules of each comment that names one. Few files have such a comment, and only theirs are read. */
function ignoredRules(
  sourceInfo: Uint8Array,
  { bytes }: ServiceLocations,
): ReadonlyMap<string, ReadonlySet<string>> {
  const ignored = new Map<string, ReadonlySet<string>>();
  const { buffer, byteOffset, byteLength } = bytes;
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(IGNORE_BYTES)) return ignored;
  for (const [path, comment] of readServiceComments(sourceInfo)) {
    const rules = comment.split("\n").flatMap((line) => IGNORE.exec(line)?.[1] ?? []);
    if (rules.length > 0) ignored.set(path, new Set(rules));
  }
  return ignored;
}
