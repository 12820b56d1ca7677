import { type BinaryReader, eachField, readPackable, WireType } from "./wire.ts";

/** One `SourceCodeInfo.Location`: its descriptor path and where it starts. */
export interface SourceLocation {
  readonly path: readonly number[];
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
  /** The comment above it, encoded; absent where there is none. */
  readonly comment?: Uint8Array;
}

/** The locations of the services of a file; nothing else is ever reported. */
export interface ServiceLocations {
  /** Those of services and of RPCs, and what else is not inside of an RPC. */
  readonly locations: readonly SourceLocation[];
  /** Those inside of an RPC, still encoded, by the path of the RPC. */
  readonly inside: ReadonlyMap<string, readonly Uint8Array[]>;
}

/** The length of the path of an RPC: `[6, service, 2, method]`. */
const RPC_DEPTH = 4;

/** Reads where the services and the RPCs of a file stand. */
export function readServiceLocations(sourceInfo: Uint8Array): ServiceLocations {
  const locations: SourceLocation[] = [];
  const inside = new Map<string, Uint8Array[]>();
  eachServiceLocation(sourceInfo, (encoded) => {
    const location = isShortPathInRpc(encoded) ? undefined : readLocation(encoded);
    const rpc = location === undefined ? shortPathOfRpc(encoded) : rpcAround(location.path);
    if (location !== undefined && rpc === undefined) locations.push(location);
    else if (rpc !== undefined) add(inside, rpc, encoded);
  });
  return { locations, inside };
}

function add(lists: Map<string, Uint8Array[]>, key: string, value: Uint8Array): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [value]);
  else known.push(value);
}

/** The path of the RPC that a path leads into; undefined for all other paths. */
export function rpcAround(path: readonly number[]): string | undefined {
  const isInside = path.length > RPC_DEPTH && path[0] === SERVICE && path[2] === METHOD;
  return isInside ? path.slice(0, RPC_DEPTH).join(".") : undefined;
}

/** Reads one encoded location. */
export function readLocation(encoded: Uint8Array): SourceLocation {
  const path: number[] = [];
  const span: number[] = [];
  let comment: Uint8Array | undefined;
  eachField(encoded, (field, wireType, reader) => {
    if (field === 1) readPackable(reader, wireType, path);
    else if (field === 2) readPackable(reader, wireType, span);
    else if (field === 3 && wireType === WireType.LengthDelimited) comment = reader.bytes();
    else return false;
    return true;
  });
  // Spans count from 0.
  const location = { path, line: (span[0] ?? 0) + 1, column: (span[1] ?? 0) + 1 };
  return comment === undefined || comment.length === 0 ? location : { ...location, comment };
}

/** The leading comments of services and RPCs, by descriptor path joined with dots. */
export function readServiceComments(sourceInfo: Uint8Array): Map<string, string> {
  const comments = new Map<string, string>();
  eachServiceLocation(sourceInfo, (encoded) => {
    const { path, comment } = readLocation(encoded);
    if (comment !== undefined) comments.set(path.join("."), decoder.decode(comment));
  });
  return comments;
}

/** Decodes text as protobuf does: a mark at its begin is a part of it. */
export const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The tag of `Location.path`, which compilers write first and packed. */
const PATH_TAG = 0x0a;
/** The number of `FileDescriptorProto.service`. */
const SERVICE = 6;
/** The number of `ServiceDescriptorProto.method`. */
const METHOD = 2;

/**
 * Visits the encoded locations of services and what is in them. Most locations
 * are of messages; their path is not even decoded.
 */
function eachServiceLocation(sourceInfo: Uint8Array, visit: (location: Uint8Array) => void): void {
  eachField(sourceInfo, (field, wireType, reader) => {
    if (field !== 1 || wireType !== WireType.LengthDelimited) return false;
    if (!isElsewhere(sourceInfo, reader)) visit(reader.bytes());
    return true;
  });
}

/** Whether the location at the reader is of something else than a service; then it is passed over. */
function isElsewhere(sourceInfo: Uint8Array, reader: BinaryReader): boolean {
  const start = reader.pos;
  const length = reader.uint32();
  const at = reader.pos;
  const end = at + length;
  // A path is far shorter than 128 bytes, so its length is one byte and its first step the third.
  const pathLength = sourceInfo[at + 1] ?? 0;
  const elsewhere =
    length > 1 &&
    end <= sourceInfo.length &&
    sourceInfo[at] === PATH_TAG &&
    pathLength > 0 &&
    pathLength < 0x80 &&
    (length === 2 || sourceInfo[at + 2] !== SERVICE);
  reader.pos = elsewhere ? end : start;
  return elsewhere;
}

/** Whether a location is inside of an RPC by the first bytes of its path; of large numbers, all of it is read. */
function isShortPathInRpc(encoded: Uint8Array): boolean {
  const length = encoded[1] ?? 0;
  return (
    encoded[0] === PATH_TAG &&
    length > RPC_DEPTH &&
    length < 0x80 &&
    encoded[2] === SERVICE &&
    (encoded[3] ?? 0x80) < 0x80 &&
    encoded[4] === METHOD &&
    (encoded[5] ?? 0x80) < 0x80
  );
}

function shortPathOfRpc(encoded: Uint8Array): string {
  return `${SERVICE}.${encoded[3]}.${METHOD}.${encoded[5]}`;
}
