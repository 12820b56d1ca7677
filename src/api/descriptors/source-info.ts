import { FieldReader, WireType } from "./wire.ts";

/** One `SourceCodeInfo.Location`: its descriptor path and where it starts. */
export interface SourceLocation {
  readonly path: readonly number[];
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
}

/** Where the locations of the services of a file are; findings are never reported elsewhere. */
export interface ServiceLocations {
  /** The locations of each RPC, by `rpcAround`. */
  readonly rpcs: ReadonlyMap<number, LocationRuns>;
  /** All others: those of services and their options. */
  readonly others: LocationRuns;
  /** The bytes with all of them, and with their comments. */
  readonly bytes: Uint8Array;
}

/**
 * Locations that follow each other, as those of an RPC do: the offset in the source information of the first
 * of a run, which is after its tag, and that of the end of the last, for each run.
 */
export type LocationRuns = readonly number[];

/** The tag of `SourceCodeInfo.location`, in one byte. */
const LOCATION_TAG = 0x0a;
/** The length of the path of an RPC: `[6, service, 2, method]`. */
const RPC_DEPTH = 4;

/**
 * Finds the locations of the services and RPCs of a file, which are read when something is reported there.
 *
 * @param pathAt - the path of the location at an offset
 */
export function findServiceLocations(
  sourceInfo: Uint8Array,
  pathAt: (offset: number) => ArrayLike<number>,
): ServiceLocations {
  const rpcs = new Map<number, number[]>();
  const others: number[] = [];
  let lastRpc: number | undefined;
  let lastRuns = others;
  let start = sourceInfo.length;
  let end = 0;
  eachServiceLocation(sourceInfo, (reader) => {
    const offset = reader.position;
    const rpc = rpcAt(reader, pathAt);
    reader.pass();
    if (rpc !== lastRpc) lastRuns = rpc === undefined ? others : runsOf(rpcs, rpc);
    const continues =
      rpc === lastRpc && offset === end + 1 && sourceInfo[end] === LOCATION_TAG && end > 0;
    if (continues) lastRuns[lastRuns.length - 1] = reader.position;
    else lastRuns.push(offset, reader.position);
    lastRpc = rpc;
    start = Math.min(start, offset);
    end = reader.position;
  });
  return { rpcs, others, bytes: sourceInfo.subarray(start, Math.max(start, end)) };
}

function runsOf(runs: Map<number, number[]>, rpc: number): number[] {
  const known = runs.get(rpc);
  if (known !== undefined) return known;
  const own: number[] = [];
  runs.set(rpc, own);
  return own;
}

/** A number that no file has of services, or of RPCs in a service. */
const MAX_INDEX = 2 ** 26;

/** A number for the RPC that a path names or leads into; undefined for all other paths. */
export function rpcAround(path: ArrayLike<number>): number | undefined {
  if (path[0] !== SERVICE || path[2] !== METHOD) return undefined;
  const service = path[1] ?? -1;
  const method = path[3] ?? -1;
  if (service < 0 || service >= MAX_INDEX || method < 0 || method >= MAX_INDEX) return undefined;
  return service * MAX_INDEX + method;
}

/** The tag of `Location.path`, which compilers write first and packed. */
export const PATH_TAG = 0x0a;
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
export function eachServiceLocation(
  sourceInfo: Uint8Array,
  visit: (reader: FieldReader) => void,
): void {
  new FieldReader(sourceInfo).visitAll((field, wireType, reader) => {
    if (field !== 1 || wireType !== WireType.LengthDelimited) return false;
    if (isElsewhere(reader)) return false;
    visit(reader);
    return true;
  });
}

/** The offset of the content of the next location, which is after its length. */
export function contentOf({ source, position }: FieldReader): number {
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

/** The RPC that the path of the next location names or leads into. */
function rpcAt(
  reader: FieldReader,
  pathAt: (offset: number) => ArrayLike<number>,
): number | undefined {
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
  return isShort ? service * MAX_INDEX + method : rpcAround(pathAt(reader.position));
}
