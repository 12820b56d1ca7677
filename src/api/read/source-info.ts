import { eachField, readPackable, WireType } from "./wire.ts";

/** One `SourceCodeInfo.Location`: its descriptor path and where it starts. */
export interface SourceLocation {
  readonly path: readonly number[];
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
}

/** Reads the locations of the services of a file; nothing else is ever reported. */
export function readServiceLocations(sourceInfo: Uint8Array): SourceLocation[] {
  const locations: SourceLocation[] = [];
  eachServiceLocation(sourceInfo, (location) => {
    const path: number[] = [];
    const span: number[] = [];
    eachField(location, (field, wireType, reader) => {
      if (field === 1) readPackable(reader, wireType, path);
      else if (field === 2) readPackable(reader, wireType, span);
      else return false;
      return true;
    });
    // Spans count from 0.
    locations.push({ path, line: (span[0] ?? 0) + 1, column: (span[1] ?? 0) + 1 });
  });
  return locations;
}

/** The leading comments of services and RPCs, by descriptor path joined with dots. */
export function readServiceComments(sourceInfo: Uint8Array): Map<string, string> {
  const comments = new Map<string, string>();
  eachServiceLocation(sourceInfo, (location) => {
    const path: number[] = [];
    let comment = "";
    eachField(location, (field, wireType, reader) => {
      if (field === 1) readPackable(reader, wireType, path);
      else if (field === 3 && wireType === WireType.LengthDelimited) comment = reader.string();
      else return false;
      return true;
    });
    if (comment !== "") comments.set(path.join("."), comment);
  });
  return comments;
}

/** The tag of `Location.path`, which compilers write first and packed. */
const PATH_TAG = 0x0a;
/** The number of `FileDescriptorProto.service`. */
const SERVICE = 6;

/**
 * Visits the encoded locations of services and what is in them. Most locations
 * are of messages; their path is not even decoded.
 */
function eachServiceLocation(sourceInfo: Uint8Array, visit: (location: Uint8Array) => void): void {
  eachField(sourceInfo, (field, wireType, reader) => {
    if (field !== 1 || wireType !== WireType.LengthDelimited) return false;
    const location = reader.bytes();
    // A path is far shorter than 128 bytes, so its length is one byte and its first step the third.
    const length = location[1] ?? 0;
    const isElsewhere = location[0] === PATH_TAG && length < 0x80 && location[2] !== SERVICE;
    if (!isElsewhere || length === 0) visit(location);
    return true;
  });
}
