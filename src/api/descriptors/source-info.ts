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

/** The locations of the services of a file; findings are never reported elsewhere. */
export interface ServiceLocations {
  /** All that are not inside an RPC: those of services and of the RPCs themselves. */
  readonly locations: readonly SourceLocation[];
  /** The offsets in the source information of the locations inside an RPC, by the path of the RPC. */
  readonly inside: ReadonlyMap<string, readonly number[]>;
}

/** The length of the path of an RPC: `[6, service, 2, method]`. */
const RPC_DEPTH = 4;

/** Reads the locations of the services and RPCs of a file. */
export function readServiceLocations(sourceInfo: Uint8Array): ServiceLocations {
  const locations: SourceLocation[] = [];
  const inside = new Map<string, number[]>();
  // The locations inside an RPC are adjacent, so they share the path string of the RPC.
  let lastRpc: number | undefined;
  let lastOffsets: number[] = [];
  eachServiceLocation(sourceInfo, (reader) => {
    const offset = reader.position;
    const shortRpc = shortRpcAround(reader);
    if (shortRpc !== undefined) {
      if (shortRpc !== lastRpc) lastOffsets = offsetsOf(inside, nameOfShortRpc(shortRpc));
      lastRpc = shortRpc;
      lastOffsets.push(offset);
      reader.pass();
      return;
    }
    const location = readLocation(reader);
    const rpc = rpcAround(location.path);
    if (rpc !== undefined) offsetsOf(inside, rpc).push(offset);
    else if (location.path.length <= MAX_STEPS) locations.push(location);
  });
  return { locations, inside };
}

function offsetsOf(lists: Map<string, number[]>, rpc: string): number[] {
  const known = lists.get(rpc);
  if (known !== undefined) return known;
  const offsets: number[] = [];
  lists.set(rpc, offsets);
  return offsets;
}

/** The path of the RPC that a path leads into; undefined for all other paths. */
export function rpcAround(path: readonly number[]): string | undefined {
  const isInside = path.length > RPC_DEPTH && path[0] === SERVICE && path[2] === METHOD;
  return isInside ? path.slice(0, RPC_DEPTH).join(".") : undefined;
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

/** Reads the locations at offsets of the source information, without those whose paths are too long. */
export function readLocationsAt(sourceInfo: Uint8Array, offsets: readonly number[]): ReadLocations {
  const locations: SourceLocation[] = [];
  let byteLength = 0;
  const reader = new FieldReader(sourceInfo);
  for (const offset of offsets) {
    reader.position = offset;
    const location = readLocation(reader);
    byteLength += reader.position - offset;
    if (location.path.length <= MAX_STEPS) locations.push(location);
  }
  return { locations, byteLength };
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
export const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

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

/**
 * The RPC around the next location, as one number from the first bytes of its path; undefined for
 * other locations and for paths with large numbers.
 */
function shortRpcAround(reader: FieldReader): number | undefined {
  const { source } = reader;
  const at = contentOf(reader);
  const pathLength = source[at + 1] ?? 0;
  const service = source[at + 3] ?? 0x80;
  const method = source[at + 5] ?? 0x80;
  const isInside =
    source[at] === PATH_TAG &&
    pathLength > RPC_DEPTH &&
    pathLength < 0x80 &&
    source[at + 2] === SERVICE &&
    service < 0x80 &&
    source[at + 4] === METHOD &&
    method < 0x80;
  return isInside ? service * 0x80 + method : undefined;
}

function nameOfShortRpc(rpc: number): string {
  return `${SERVICE}.${Math.floor(rpc / 0x80)}.${METHOD}.${rpc % 0x80}`;
}
