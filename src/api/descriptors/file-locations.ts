import { keepFirst, MANY, RpcLocations } from "./rpc-locations.ts";
import {
  findServiceLocations,
  readLocationsAt,
  readServiceComments,
  rpcAround,
  type ServiceLocations,
  type SourceLocation,
} from "./source-info.ts";

const IGNORE_BYTES = Buffer.from("buf:lint:ignore");
const IGNORE = /^\s*buf:lint:ignore\s+([A-Z0-9_]+)\b/;

/** The number of bytes beyond which the locations of an RPC are not read again for each finding. */
const MANY_BYTES = 2048;

/** The locations of the services of a file, few of which are ever read. */
export class FileLocations {
  /** The rules that comments above services and RPCs ignore, by descriptor path joined with dots. */
  readonly ignored: ReadonlyMap<string, ReadonlySet<string>>;
  /** The encoded `SourceCodeInfo`. */
  readonly #sourceInfo: Uint8Array;
  readonly #offsets: ServiceLocations;
  /** The locations of RPCs with many or large ones. */
  readonly #indexed = new Map<number, RpcLocations>();
  /** The locations outside RPCs by descriptor path joined with dots; absent until one is needed. */
  #others: ReadonlyMap<string, SourceLocation> | undefined;

  constructor(sourceInfo: Uint8Array) {
    this.#sourceInfo = sourceInfo;
    this.#offsets = findServiceLocations(sourceInfo);
    this.ignored = ignoredRules(sourceInfo, this.#offsets);
  }

  /** The location of an element of an RPC, or of the RPC itself. */
  findInRpc(path: readonly number[]): SourceLocation | undefined {
    const rpc = rpcAround(path);
    if (rpc === undefined) return undefined;
    const known = this.#indexed.get(rpc);
    if (known !== undefined) return known.find(path);
    const offsets = this.#offsets.rpcs.get(rpc) ?? [];
    const { locations, byteLength } = readLocationsAt(this.#sourceInfo, offsets, path);
    // Most RPCs have few findings, so caching their locations would only take memory.
    if (offsets.length >= MANY || byteLength > MANY_BYTES) {
      const all = readLocationsAt(this.#sourceInfo, offsets).locations;
      this.#indexed.set(rpc, new RpcLocations(all));
    }
    return new RpcLocations(locations).find(path);
  }

  /** The location of the nearest element around a path, outside RPCs. */
  findAround(path: readonly number[]): SourceLocation | undefined {
    this.#others ??= firstByPath(readLocationsAt(this.#sourceInfo, this.#offsets.others).locations);
    for (let length = path.length; length > 0; length--) {
      const found = this.#others.get(path.slice(0, length).join("."));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function firstByPath(locations: readonly SourceLocation[]): ReadonlyMap<string, SourceLocation> {
  const first = new Map<string, SourceLocation>();
  for (const location of locations) keepFirst(first, location.path.join("."), location);
  return first;
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
