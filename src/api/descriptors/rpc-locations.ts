import { isBefore, OPTION_DEPTH, type SourceLocation } from "./source-info.ts";

/** The number of `MethodDescriptorProto.options`, and its index in that path. */
const OPTIONS = 4;
const OPTIONS_INDEX = 4;
/** The number of locations from which an index pays off; fewer are searched. */
export const MANY = 64;

/** The locations of one RPC. */
export class RpcLocations {
  readonly #locations: readonly SourceLocation[];
  #index: LocationIndex | undefined;

  constructor(locations: readonly SourceLocation[]) {
    this.#locations = locations;
  }

  /**
   * The location of the innermost element around a path. In an option that is written piece by piece,
   * an element may have no location of its own: then the first piece below it is its location.
   */
  find(path: readonly number[]): SourceLocation | undefined {
    if (this.#locations.length < MANY) return this.#search(path);
    this.#index ??= indexOf(this.#locations);
    return findIn(this.#index, path);
  }

  #search(path: readonly number[]): SourceLocation | undefined {
    let found: SourceLocation | undefined;
    let foundLength = 0;
    let isFoundExact = false;
    for (const location of this.#locations) {
      const length = commonLength(path, location.path);
      const isExact = length === location.path.length;
      if (length < foundLength || (!isExact && !isInOption(location, length))) continue;
      const isBetter =
        found === undefined ||
        length > foundLength ||
        (isExact === isFoundExact ? isBefore(location, found) : isExact);
      if (!isBetter) continue;
      found = location;
      foundLength = length;
      isFoundExact = isExact;
    }
    return found;
  }
}

function isInOption({ path }: SourceLocation, length: number): boolean {
  return length >= OPTION_DEPTH && path[OPTIONS_INDEX] === OPTIONS;
}

function commonLength(left: readonly number[], right: readonly number[]): number {
  const most = Math.min(left.length, right.length);
  let length = 0;
  while (length < most && left[length] === right[length]) length++;
  return length;
}

interface LocationIndex {
  /** The locations by path, joined with dots. */
  readonly exact: ReadonlyMap<string, SourceLocation>;
  /** For each path in an option, the first location below it. */
  readonly pieces: ReadonlyMap<string, SourceLocation>;
}

function indexOf(locations: readonly SourceLocation[]): LocationIndex {
  const exact = new Map<string, SourceLocation>();
  const pieces = new Map<string, SourceLocation>();
  for (const location of locations) {
    const { path } = location;
    keepFirst(exact, path.join("."), location);
    for (let length = OPTION_DEPTH; length < path.length; length++) {
      if (isInOption(location, length)) {
        keepFirst(pieces, path.slice(0, length).join("."), location);
      }
    }
  }
  return { exact, pieces };
}

function findIn(
  { exact, pieces }: LocationIndex,
  path: readonly number[],
): SourceLocation | undefined {
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length).join(".");
    const found = exact.get(key) ?? pieces.get(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Keeps the first location of each path. */
export function keepFirst(
  index: Map<string, SourceLocation>,
  key: string,
  location: SourceLocation,
): void {
  const known = index.get(key);
  if (known === undefined || isBefore(location, known)) index.set(key, location);
}
