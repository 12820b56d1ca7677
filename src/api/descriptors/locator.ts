import type { DescriptorPosition, Position } from "../position.ts";
import { FileLocations } from "./file-locations.ts";
import { DescriptorError } from "./file-outline.ts";
import type { SourceLocation } from "./source-info.ts";

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

const NOWHERE = new FileLocations(new Uint8Array());

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
    return readSource(file, () => locations.findInRpc(path) ?? locations.findAround(path));
  }

  #locationsOf(file: string): FileLocations {
    let locations = this.#files.get(file);
    if (locations === undefined) {
      const sourceInfo = this.#sourceInfo.get(file);
      locations =
        sourceInfo === undefined ? NOWHERE : readSource(file, () => new FileLocations(sourceInfo));
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
