import {
  contentOf,
  eachServiceLocation,
  type LocationRuns,
  PATH_TAG,
  type SourceLocation,
} from "./source-info.ts";
import { FieldReader, type VisitField, WireType } from "./wire.ts";

/**
 * The maximum number of steps of a path. Findings are far less deep, and work on a path may take the
 * square of its length.
 */
const MAX_STEPS = 32;

/**
 * Reads locations one after the other into the same fields: an RPC has a dozen, and one of them is that of a
 * finding.
 */
export class LocationReader {
  /** The path of the location, in its first steps. */
  readonly path = new Int32Array(MAX_STEPS);
  /** The number of steps of the path. */
  depth = 0;
  readonly #reader: FieldReader;
  /** The start: line and column, from 0. */
  readonly #span = new Int32Array(2);
  #spanLength = 0;
  /** The offset of the comment above it; -1 without one. */
  #comment = -1;

  /** @param sourceInfo - the encoded `SourceCodeInfo` */
  constructor(sourceInfo: Uint8Array) {
    this.#reader = new FieldReader(sourceInfo);
  }

  /** The line, from 1. */
  get line(): number {
    return (this.#spanLength > 0 ? (this.#span[0] as number) : 0) + 1;
  }

  /** The column, from 1. */
  get column(): number {
    return (this.#spanLength > 1 ? (this.#span[1] as number) : 0) + 1;
  }

  /** Whether the path is too long to be that of a finding; its first steps are in `path`. */
  get isTooDeep(): boolean {
    return this.depth > MAX_STEPS;
  }

  /** The comment above the location, decoded as protobuf does; undefined without one. */
  get comment(): string | undefined {
    if (this.#comment < 0) return undefined;
    const { position } = this.#reader;
    this.#reader.position = this.#comment;
    const comment = this.#reader.string();
    this.#reader.position = position;
    return comment;
  }

  /** The location in an object of its own. */
  copy(): SourceLocation {
    const path: number[] = [];
    for (let step = 0; step < this.depth; step++) path.push(this.path[step] as number);
    return { path, line: this.line, column: this.column };
  }

  /** Reads the location at an offset. */
  read(offset: number): void {
    this.#reader.position = offset;
    this.#readNext();
  }

  /**
   * Visits each location of several runs, without those whose paths are too long.
   *
   * @param wanted - if given, only the locations that may be of this path, of one around it, or of a piece of
   * the same option
   */
  visit(runs: LocationRuns, visit: (location: this) => void, wanted?: readonly number[]): void {
    const reader = this.#reader;
    for (let run = 0; run < runs.length; run += 2) {
      reader.position = runs[run] as number;
      const end = runs[run + 1] as number;
      for (;;) {
        if (wanted !== undefined && isOfOther(reader, wanted)) reader.pass();
        else {
          this.#readNext();
          if (!this.isTooDeep) visit(this);
        }
        if (reader.position >= end) break;
        // Passes the tag of the next location.
        reader.position++;
      }
    }
  }

  #readNext(): void {
    this.depth = 0;
    this.#spanLength = 0;
    this.#comment = -1;
    this.#reader.message(this.#readField);
  }

  readonly #readField: VisitField = (field, wireType, reader) => {
    if (field === 1) this.depth = reader.int32s(wireType, this.path, this.depth);
    else if (field === 2) this.#spanLength = reader.int32s(wireType, this.#span, this.#spanLength);
    else {
      if (field === 3 && wireType === WireType.LengthDelimited) this.#comment = reader.position;
      return false;
    }
    return true;
  };
}

/** The leading comments of services and RPCs, by descriptor path joined with dots. */
export function readServiceComments(sourceInfo: Uint8Array): Map<string, string> {
  const comments = new Map<string, string>();
  const location = new LocationReader(sourceInfo);
  eachServiceLocation(sourceInfo, (reader) => {
    location.read(reader.position);
    reader.pass();
    const { path, depth, comment, isTooDeep } = location;
    if (comment !== undefined && !isTooDeep) {
      comments.set(path.subarray(0, depth).join("."), comment);
    }
  });
  return comments;
}

/** The length of the path of a method's option: `[6, service, 2, method, 4, extension]`. */
export const OPTION_DEPTH = 6;

/** Whether the next location is certainly neither around a path nor a piece of the same option. */
function isOfOther(reader: FieldReader, wanted: readonly number[]): boolean {
  const { source } = reader;
  let at = contentOf(reader);
  const length = source[at + 1] ?? 0x80;
  if (source[at] !== PATH_TAG || length >= 0x80) return false;
  at += 2;
  const end = at + length;
  const compared = Math.min(wanted.length, OPTION_DEPTH);
  for (let step = 0; step < compared && at < end; step++) {
    let byte = source[at++] ?? 0;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80 && shift < 32; shift += 7) {
      byte = source[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
    }
    if (value !== wanted[step]) return byte < 0x80;
  }
  return wanted.length < OPTION_DEPTH && at < end;
}
