import { type LocationReader, OPTION_DEPTH } from "./location-reader.ts";
import type { SourceLocation } from "./source-info.ts";

/** The number of `MethodDescriptorProto.options`, and its index in that path. */
const OPTIONS = 4;
const OPTIONS_INDEX = 4;

/**
 * The location of the innermost element around a path. In an option that is written piece by piece,
 * an element may have no location of its own: then the first piece below it is its location.
 */
export class NearestLocation {
  readonly #path: readonly number[];
  /** The number of steps that it has in common with the path; 0 if none was found. */
  #length = 0;
  #line = 0;
  #column = 0;
  /** The location, if it is a piece of the option: its path is another one. */
  #piece: SourceLocation | undefined;

  constructor(path: readonly number[]) {
    this.#path = path;
  }

  /** The nearest of the locations that were compared. */
  get found(): SourceLocation | undefined {
    if (this.#length === 0) return undefined;
    if (this.#piece !== undefined) return this.#piece;
    const isWhole = this.#length === this.#path.length;
    const path = isWhole ? this.#path : this.#path.slice(0, this.#length);
    return { path, line: this.#line, column: this.#column };
  }

  /** Compares a location of the RPC. */
  compare(location: LocationReader): void {
    const length = commonLength(this.#path, location);
    const isExact = length === location.depth;
    if (length < this.#length || (!isExact && !isInOption(location.path, length))) return;
    const wasExact = this.#piece === undefined;
    const { line, column } = location;
    const isNearer =
      length > this.#length ||
      (isExact === wasExact
        ? line < this.#line || (line === this.#line && column < this.#column)
        : isExact);
    if (!isNearer) return;
    this.#length = length;
    this.#line = line;
    this.#column = column;
    this.#piece = isExact ? undefined : location.copy();
  }
}

function isInOption(path: ArrayLike<number>, length: number): boolean {
  return length >= OPTION_DEPTH && path[OPTIONS_INDEX] === OPTIONS;
}

function commonLength(left: readonly number[], { path: right, depth }: LocationReader): number {
  const most = Math.min(left.length, depth);
  let length = 0;
  while (length < most && left[length] === right[length]) length++;
  return length;
}

/** The locations of an RPC with many, which would take long to search for each finding. */
export class IndexedLocations {
  /** The locations by path, joined with dots. */
  readonly #exact = new Map<string, SourceLocation>();
  /** For each path in an option, the first location below it. */
  readonly #pieces = new Map<string, SourceLocation>();

  add(location: SourceLocation): void {
    const { path } = location;
    keepFirst(this.#exact, path.join("."), location);
    for (let length = OPTION_DEPTH; length < path.length; length++) {
      if (!isInOption(path, length)) continue;
      keepFirst(this.#pieces, path.slice(0, length).join("."), location);
    }
  }

  /** See `NearestLocation`. */
  find(path: readonly number[]): SourceLocation | undefined {
    for (let length = path.length; length > 0; length--) {
      const key = path.slice(0, length).join(".");
      const found = this.#exact.get(key) ?? this.#pieces.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Whether a location is before another one in the text. */
function isBefore(left: Start, right: Start): boolean {
  return left.line < right.line || (left.line === right.line && left.column < right.column);
}

type Start = Pick<SourceLocation, "line" | "column">;

/** Keeps the first location of each path. */
export function keepFirst(
  index: Map<string, SourceLocation>,
  key: string,
  location: SourceLocation,
): void {
  const known = index.get(key);
  if (known === undefined || isBefore(location, known)) index.set(key, location);
}
