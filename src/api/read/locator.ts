import type { DescriptorPosition, Position } from "../position.ts";
import { DescriptorError } from "./file-outline.ts";
import { readServiceComments, readServiceLocations, type SourceLocation } from "./source-info.ts";

/** Where a position stands in the text that its author wrote. */
export interface Location {
  readonly file: string;
  /** The line, from 1; absent where the input carries no source positions. */
  readonly line?: number;
  /** The column, from 1. */
  readonly column?: number;
  /** The descriptor path that the input has a position for; absent outside protobuf files. */
  readonly path?: readonly number[];
}

/**
 * Resolves positions, reading the source information of a file only when
 * something in it is reported.
 */
export class Locator {
  readonly #sourceInfo = new Map<string, Uint8Array>();
  readonly #files = new Map<string, FileLocations>();
  readonly #comments = new Map<string, ReadonlyMap<string, string>>();

  /** Makes a file's source information known. */
  add(file: string, sourceInfo: Uint8Array): void {
    this.#sourceInfo.set(file, sourceInfo);
  }

  /**
   * The line and column of a position.
   *
   * A field of an option has a location of its own only where the compiler
   * gives one. Where the option is written piece by piece, the first piece
   * below the field stands for it; else the nearest element that encloses it.
   */
  locate(position: Position): Location {
    if ("line" in position) return position;
    const found = this.#find(position);
    if (found === undefined) return { file: position.file, path: position.path };
    return { file: position.file, line: found.line, column: found.column, path: found.path };
  }

  /**
   * Whether `// buf:lint:ignore RULE` stands in the comment above the RPC or
   * the service that holds a position, as `buf lint` reads it.
   */
  isIgnored(position: Position, rule: string): boolean {
    if ("line" in position) return false;
    const comments = this.#commentsOf(position.file);
    return [2, 4].some((length) => {
      const comment = comments.get(position.path.slice(0, length).join("."));
      return comment?.split("\n").some((line) => IGNORE.exec(line)?.[1] === rule) === true;
    });
  }

  #commentsOf(file: string): ReadonlyMap<string, string> {
    let comments = this.#comments.get(file);
    if (comments === undefined) {
      const bytes = this.#sourceInfo.get(file);
      comments =
        bytes === undefined ? new Map() : readSource(file, () => readServiceComments(bytes));
      this.#comments.set(file, comments);
    }
    return comments;
  }

  #find(position: DescriptorPosition): SourceLocation | undefined {
    const { exact, pieces } = this.#locationsOf(position.file);
    for (let length = position.path.length; length > 0; length--) {
      const key = position.path.slice(0, length).join(".");
      const found = exact.get(key) ?? pieces.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #locationsOf(file: string): FileLocations {
    let locations = this.#files.get(file);
    if (locations === undefined) {
      const bytes = this.#sourceInfo.get(file);
      locations = indexLocations(
        bytes === undefined ? [] : readSource(file, () => readServiceLocations(bytes)),
      );
      this.#files.set(file, locations);
    }
    return locations;
  }
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
  readonly exact: ReadonlyMap<string, SourceLocation>;
  /** For each path inside a method's option that may have no location of its own, the first location below it. */
  readonly pieces: ReadonlyMap<string, SourceLocation>;
}

/** The length of the path of a method's option: `[6, service, 2, method, 4, extension]`. */
const OPTION_DEPTH = 6;

function indexLocations(locations: readonly SourceLocation[]): FileLocations {
  const exact = new Map<string, SourceLocation>();
  const pieces = new Map<string, SourceLocation>();
  for (const location of locations) {
    const { path } = location;
    keepFirst(exact, path.join("."), location);
    if (path[0] !== 6 || path[2] !== 2 || path[4] !== 4) continue;
    for (let length = OPTION_DEPTH; length < path.length; length++) {
      keepFirst(pieces, path.slice(0, length).join("."), location);
    }
  }
  return { exact, pieces };
}

function keepFirst(
  index: Map<string, SourceLocation>,
  key: string,
  location: SourceLocation,
): void {
  const known = index.get(key);
  if (known === undefined || isBefore(location, known)) index.set(key, location);
}

function isBefore(left: SourceLocation, right: SourceLocation): boolean {
  return left.line < right.line || (left.line === right.line && left.column < right.column);
}
