import { FieldReader, WireType } from "./wire.ts";

/** One `SourceCodeInfo.Location`: its descriptor path and where it starts. */
export interface SourceLocation {
  readonly path: readonly number[];
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
  /** The comment above it, encoded; absent if there is none. */
  readonly comment?: Uint8Array;
}

/** Whether a location is before another one in the text. */
export function isBefore(left: SourceLocation, right: SourceLocation): boolean {
  return left.line < right.line || (left.line === right.line && left.column < right.column);
}

/** Where the locations of the services of a file are; findings are never reported elsewhere. */
export interface ServiceLocations {
  /** The offsets in the source information of the locations of each RPC, by `rpcAround`. */
  readonly rpcs: ReadonlyMap<number, readonly number[]>;
  /** The offsets of all others: those of services and their options. */
  readonly others: readonly number[];
  /** The bytes with all of them, and with their comments. */
  readonly bytes: Uint8Array;
}

/** The length of the path of an RPC: `[6, service, 2, method]`. */
const RPC_DEPTH = 4;

/** Finds the locations of the services and RPCs of a file, which are read when something is reported there. */
export function findServiceLocations(sourceInfo: Uint8Array): ServiceLocations {
  const rpcs = new Map<number, number[]>();
  const others: number[] = [];
  // The locations of an RPC are adjacent, so it is looked up once.
  let lastRpc: number | undefined;
  let lastOffsets: number[] = [];
  let start = sourceInfo.length;
  let end = 0;
  eachServiceLocation(sourceInfo, (reader) => {
    const offset = reader.position;
    const rpc = nextRpc(reader);
    if (rpc === undefined) others.push(offset);
    else {
      if (rpc !== lastRpc) lastOffsets = offsetsOf(rpcs, rpc);
      lastRpc = rpc;
      lastOffsets.push(offset);
    }
    start = Math.min(start, offset);
    end = reader.position;
  });
  return { rpcs, others, bytes: sourceInfo.subarray(start, Math.max(start, end)) };
}

function offsetsOf(lists: Map<number, number[]>, rpc: number): number[] {
  const known = lists.get(rpc);
  if (known !== undefined) return known;
  const offsets: number[] = [];
  lists.set(rpc, offsets);
  return offsets;
}

/** A number that no file has of services, or of RPCs in a service. */
const MAX_INDEX = 2 ** 26;

/** A number for the RPC that a path names or leads into; undefined for all other paths. */
export function rpcAround(path: readonly number[]): number | undefined {
  if (path[0] !== SERVICE || path[2] !== METHOD) return undefined;
  const service = path[1] ?? -1;
  const method = path[3] ?? -1;
  if (service < 0 || service >= MAX_INDEX || method < 0 || method >= MAX_INDEX) return undefined;
  return service * MAX_INDEX + method;
}

/**
 * The maximum number of steps of a path. Findings are far less deep, and work on a path may take the
 * square of its length.
 */
const MAX_STEPS = 32;

/** Locations of one RPC. */
export interface ReadLocations {
  readonly locations: readonly SourceLocation[];
  /** The number of bytes that were read for them. */
  readonly byteLength: number;
}

/**
 * Reads locations, without those whose paths are too long.
 *
 * @param offsets - where they are in the source information
 * @param path - if given, only the locations that may be of this path, of one around it, or of a piece of the
 * same option
 */
export function readLocationsAt(
  sourceInfo: Uint8Array,
  offsets: readonly number[],
  path?: readonly number[],
): ReadLocations {
  const locations: SourceLocation[] = [];
  const wanted = path === undefined ? undefined : encodedPath(path);
  let byteLength = 0;
  const reader = new FieldReader(sourceInfo);
  for (const offset of offsets) {
    reader.position = offset;
    if (wanted !== undefined && isOfOther(reader, wanted)) reader.pass();
    else {
      const location = readLocation(reader);
      if (location.path.length <= MAX_STEPS) locations.push(location);
    }
    byteLength += reader.position - offset;
  }
  return { locations, byteLength };
}

/** A path as compilers write it. */
interface EncodedPath {
  readonly bytes: readonly number[];
  /** The number of bytes of the path of its option; of all bytes, if it is outside an option. */
  readonly optionLength: number;
  readonly isInOption: boolean;
}

/** The length of the path of a method's option: `[6, service, 2, method, 4, extension]`. */
export const OPTION_DEPTH = 6;

function encodedPath(path: readonly number[]): EncodedPath {
  const bytes: number[] = [];
  let optionLength = 0;
  for (let index = 0; index < path.length; index++) {
    let rest = (path[index] as number) >>> 0;
    for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
    bytes.push(rest);
    if (index < OPTION_DEPTH) optionLength = bytes.length;
  }
  return { bytes, optionLength, isInOption: path.length >= OPTION_DEPTH };
}

/** Whether the next location is certainly neither around a path nor a piece of the same option. */
function isOfOther(reader: FieldReader, wanted: EncodedPath): boolean {
  const { source } = reader;
  const { bytes, optionLength, isInOption } = wanted;
  const at = contentOf(reader);
  const pathLength = source[at + 1] ?? 0x80;
  if (source[at] !== PATH_TAG || pathLength >= 0x80) return false;
  const length = Math.min(pathLength, optionLength);
  for (let index = 0; index < length; index++) {
    const byte = source[at + 2 + index] ?? 0x80;
    // A step may take more bytes than needed, all but the last of which are at least 0x80.
    if (byte !== bytes[index]) return byte < 0x80;
  }
  return !isInOption && pathLength > bytes.length;
}

function readLocation(encoded: FieldReader): SourceLocation {
  const path: number[] = [];
  const span: number[] = [];
  let comment: Uint8Array | undefined;
  encoded.message((field, wireType, reader) => {
    if (field === 1) reader.int32s(wireType, path);
    else if (field === 2) reader.int32s(wireType, span);
    else if (field === 3 && wireType === WireType.LengthDelimited) comment = reader.bytes();
    else return false;
    return true;
  });
  // Spans count from 0.
  const line = (span[0] ?? 0) + 1;
  const column = (span[1] ?? 0) + 1;
  if (comment === undefined || comment.length === 0) return { path, line, column };
  return { path, line, column, comment };
}

/** The leading comments of services and RPCs, by descriptor path joined with dots. */
export function readServiceComments(sourceInfo: Uint8Array): Map<string, string> {
  const comments = new Map<string, string>();
  eachServiceLocation(sourceInfo, (reader) => {
    const { path, comment } = readLocation(reader);
    if (comment !== undefined) comments.set(path.join("."), decoder.decode(comment));
  });
  return comments;
}

/** Decodes text as protobuf does: a byte order mark is part of the text. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The tag of `Location.path`, which compilers write first and packed. */
const PATH_TAG = 0x0a;
/** The number of `FileDescriptorProto.service`. */
const SERVICE = 6;
/** The number of `ServiceDescriptorProto.method`. */
const METHOD = 2;

/**
 * Visits the locations of services and of elements in them. Most locations are of messages, and are
 * skipped.
 *
 * @param visit - reads or skips the next location
 */
function eachServiceLocation(sourceInfo: Uint8Array, visit: (reader: FieldReader) => void): void {
  new FieldReader(sourceInfo).visitAll((field, wireType, reader) => {
    if (field !== 1 || wireType !== WireType.LengthDelimited) return false;
    if (isElsewhere(reader)) return false;
    visit(reader);
    return true;
  });
}

/** The offset of the content of the next location, which is after its length. */
function contentOf({ source, position }: FieldReader): number {
  let at = position;
  while ((source[at] ?? 0) >= 0x80) at++;
  return at + 1;
}

/** Whether the next location is certainly not inside a service. */
function isElsewhere(reader: FieldReader): boolean {
  const { source, position } = reader;
  const at = contentOf(reader);
  const pathLength = source[at + 1] ?? 0;
  const first = source[at + 2] ?? 0x80;
  // A path is far shorter than 128 bytes, so its length takes one byte, and its first step is the third
  // byte. A step of several bytes may have any value.
  return (
    source[position] !== 0 &&
    source[at] === PATH_TAG &&
    pathLength > 0 &&
    pathLength < 0x80 &&
    first < 0x80 &&
    first !== SERVICE
  );
}

/** Passes the next location, and finds the RPC that its path names or leads into. */
function nextRpc(reader: FieldReader): number | undefined {
  const { source } = reader;
  const at = contentOf(reader);
  const pathLength = source[at + 1] ?? 0x80;
  const service = source[at + 3] ?? 0x80;
  const method = source[at + 5] ?? 0x80;
  const isShort =
    source[at] === PATH_TAG &&
    pathLength >= RPC_DEPTH &&
    pathLength < 0x80 &&
    source[at + 2] === SERVICE &&
    service < 0x80 &&
    source[at + 4] === METHOD &&
    method < 0x80;
  if (isShort) {
    reader.pass();
    return service * MAX_INDEX + method;
  }
  return rpcAround(readLocation(reader).path);
}
