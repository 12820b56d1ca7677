import type { DescriptorPosition, Position } from "../position.ts";
import { DescriptorError } from "./file-outline.ts";
import { keepFirst, RpcLocations } from "./rpc-locations.ts";
import {
  decoder,
  readLocationsAt,
  readServiceLocations,
  rpcAround,
  type SourceLocation,
} from "./source-info.ts";

/** A position in the source text. */
export interface Location {
  readonly file: string;
  /** The line, from 1; absent if the input carries no source positions. */
  readonly line?: number;
  /** The column, from 1. */
  readonly column?: number;
  /** The descriptor path that was found in the source information; absent outside protobuf files. */
  readonly path?: readonly number[];
}

/**
 * Resolves positions, reading the source information of a file only when
 * something in it is reported.
 */
export class Locator {
  readonly #sourceInfo = new Map<string, Uint8Array>();
  readonly #files = new Map<string, FileLocations>();

  /** Adds the source information of a file. */
  add(file: string, sourceInfo: Uint8Array): void {
    this.#sourceInfo.set(file, sourceInfo);
  }

  /**
   * The line and column of a position.
   *
   * Compilers do not give every field of an option a location. For an option that is
   * written piece by piece, the first piece below the field is its location; otherwise,
   * the nearest enclosing element is.
   */
  locate(position: Position): Location {
    if ("line" in position) return position;
    const found = this.#find(position);
    if (found === undefined) return { file: position.file, path: position.path };
    return { file: position.file, line: found.line, column: found.column, path: found.path };
  }

  /**
   * Whether `// buf:lint:ignore RULE` is in the comment above the RPC or
   * the service that holds a position, as `buf lint` reads it.
   */
  isIgnored(position: Position, rule: string): boolean {
    if ("line" in position) return false;
    const { ignored } = this.#locationsOf(position.file);
    if (ignored.size === 0) return false;
    return [2, 4].some(
      (length) => ignored.get(position.path.slice(0, length).join("."))?.has(rule) === true,
    );
  }

  #find({ file, path }: DescriptorPosition): SourceLocation | undefined {
    const locations = this.#locationsOf(file);
    const rpc = rpcAround(path);
    if (rpc !== undefined) {
      const found = findInside(file, locations, rpc, path);
      if (found !== undefined) return found;
    }
    for (let length = path.length; length > 0; length--) {
      const found = locations.exact.get(path.slice(0, length).join("."));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #locationsOf(file: string): FileLocations {
    let locations = this.#files.get(file);
    if (locations === undefined) {
      const sourceInfo = this.#sourceInfo.get(file);
      locations =
        sourceInfo === undefined ? NOWHERE : readSource(file, () => indexFile(sourceInfo));
      this.#files.set(file, locations);
    }
    return locations;
  }
}

/** The number of bytes beyond which locations are not read again for each finding. */
const MANY_BYTES = 2048;

function findInside(
  file: string,
  { sourceInfo, inside, indexed }: FileLocations,
  rpc: string,
  path: readonly number[],
): SourceLocation | undefined {
  const known = indexed.get(rpc);
  if (known !== undefined) return known.find(path);
  const offsets = inside.get(rpc) ?? [];
  const read = readSource(file, () => readLocationsAt(sourceInfo, offsets));
  const locations = new RpcLocations(read.locations);
  // Most RPCs have few findings, so caching their locations would only take memory.
  if (locations.areMany || read.byteLength > MANY_BYTES) indexed.set(rpc, locations);
  return locations.find(path);
}

function readSource<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new DescriptorError(
      `the source information of ${file} cannot be read: ${(error as Error).message}`,
    );
  }
}

const IGNORE = /^\s*buf:lint:ignore\s+([A-Z0-9_]+)\b/;

/** The locations of a file by their descriptor path, joined with dots. */
interface FileLocations {
  /** The encoded `SourceCodeInfo`. */
  readonly sourceInfo: Uint8Array;
  readonly exact: ReadonlyMap<string, SourceLocation>;
  /** The rules that comments above services and RPCs ignore. */
  readonly ignored: ReadonlyMap<string, ReadonlySet<string>>;
  /** The offsets in it of the locations inside each RPC, few of which are ever read. */
  readonly inside: ReadonlyMap<string, readonly number[]>;
  /** The locations that were read, of RPCs with many or large locations. */
  readonly indexed: Map<string, RpcLocations>;
}

const NOWHERE: FileLocations = {
  sourceInfo: new Uint8Array(),
  exact: new Map(),
  ignored: new Map(),
  inside: new Map(),
  indexed: new Map(),
};

function indexFile(sourceInfo: Uint8Array): FileLocations {
  const { locations, inside } = readServiceLocations(sourceInfo);
  const exact = new Map<string, SourceLocation>();
  const ignored = new Map<string, ReadonlySet<string>>();
  for (const location of locations) {
    const key = location.path.join(".");
    keepFirst(exact, key, location);
    if (location.comment !== undefined) ignored.set(key, ignoredRules(location.comment));
  }
  return { sourceInfo, exact, ignored: withRules(ignored), inside, indexed: new Map() };
}

const IGNORE_BYTES = Buffer.from("buf:lint:ignore");

function ignoredRules(comment: Uint8Array): ReadonlySet<string> {
  const { buffer, byteOffset, byteLength } = comment;
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(IGNORE_BYTES)) return NO_RULES;
  const lines = decoder.decode(comment).split("\n");
  return new Set(lines.flatMap((line) => IGNORE.exec(line)?.[1] ?? []));
}

const NO_RULES: ReadonlySet<string> = new Set();

/** Keeps only the comments that name a rule; most do not. */
function withRules(
  ignored: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map([...ignored].filter(([, rules]) => rules.size > 0));
}
