import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { DescriptorFile } from "../api/descriptors/file-outline.ts";
import { eachField, joined, plainBytes } from "../api/descriptors/wire.ts";
import { printable } from "../common/printable.ts";

/** The request of buf to a check plugin: `buf.plugin.check.v1.CheckRequest`. */
export interface CheckRequest {
  readonly files: readonly DescriptorFile[];
  /** The former files, for the rules of `buf breaking`; empty for a lint. */
  readonly against: readonly DescriptorFile[];
  /** The options of `buf.yaml`. */
  readonly options: ReadonlyMap<string, unknown>;
  /** The rules to run; empty for the default ones. */
  readonly ruleIds: readonly string[];
}

/** One finding: `buf.plugin.check.v1.Annotation`. */
export interface CheckAnnotation {
  readonly ruleId: string;
  readonly message: string;
  /** Absent for a finding outside protobuf files. */
  readonly location?: { readonly file: string; readonly path: readonly number[] };
}

/** The codes of `pluginrpc.v1.Code` that are used here; they are those of gRPC. */
export const CODE = { invalidArgument: 3, internal: 13 } as const;

/** Reads the value of a `pluginrpc.v1.Request`, whose `Any` holds a CheckRequest. */
export function readCheckRequest(request: Uint8Array): CheckRequest {
  const files: DescriptorFile[] = [];
  const against: DescriptorFile[] = [];
  const options = new Map<string, unknown>();
  const ruleIds: string[] = [];
  for (const message of valuesOf(plainBytes(request))) {
    eachField(message, (field, wireType, reader) => {
      if (wireType !== WireType.LengthDelimited) return false;
      if (field === 1) files.push(readFileDescriptor(reader.bytes()));
      else if (field === 2) against.push(readFileDescriptor(reader.bytes()));
      else if (field === 3) readOption(reader.bytes(), options);
      else if (field === 4) ruleIds.push(reader.string());
      else return false;
      return true;
    });
  }
  return { files, against, options, ruleIds };
}

/** `Request.value.value`. */
function valuesOf(request: Uint8Array): Uint8Array[] {
  const values: Uint8Array[] = [];
  eachField(request, (field, wireType, reader) => {
    if (field !== 1 || wireType !== WireType.LengthDelimited) return false;
    reader.message((inner, innerType, any) => {
      if (inner !== 2 || innerType !== WireType.LengthDelimited) return false;
      values.push(any.bytes());
      return true;
    });
    return true;
  });
  return values;
}

function readFileDescriptor(bytes: Uint8Array): DescriptorFile {
  const descriptor: Uint8Array[] = [];
  let isImport = false;
  eachField(bytes, (field, wireType, reader) => {
    if (field === 1 && wireType === WireType.LengthDelimited) {
      descriptor.push(reader.bytes());
    } else if (field === 2 && wireType === WireType.Varint) isImport = reader.bool();
    else return false;
    return true;
  });
  return { bytes: joined(descriptor), target: !isImport };
}

function readOption(bytes: Uint8Array, options: Map<string, unknown>): void {
  let key = "";
  let value: unknown;
  eachField(bytes, (field, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    if (field === 1) key = reader.string();
    else if (field === 2) value = readValue(reader.bytes());
    else return false;
    return true;
  });
  options.set(key, value);
}

/** The value of an option; only strings and booleans are used here. */
function readValue(bytes: Uint8Array): unknown {
  let value: unknown = null;
  eachField(bytes, (field, wireType, reader) => {
    if (field === 1 && wireType === WireType.Varint) value = reader.bool();
    else if (field === 4 && wireType === WireType.LengthDelimited) value = reader.string();
    else return false;
    return true;
  });
  return value;
}

/** A `pluginrpc.v1.Response` with a `CheckResponse`. */
export function encodeCheckResponse(annotations: readonly CheckAnnotation[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { ruleId, message, location } of annotations) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(ruleId);
    writer.tag(2, WireType.LengthDelimited).string(printable(message));
    if (location !== undefined) {
      writer.tag(3, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(location.file);
      writer.tag(2, WireType.LengthDelimited).fork();
      for (const step of location.path) writer.int32(step);
      writer.join();
      writer.join();
    }
    writer.join();
  }
  return encodeResponse("buf.plugin.check.v1.CheckResponse", writer.finish());
}

/** A `pluginrpc.v1.Response` with a value. */
export function encodeResponse(type: string, value: Uint8Array): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).string(`type.googleapis.com/${type}`);
  writer.tag(2, WireType.LengthDelimited).bytes(value);
  writer.join();
  return writer.finish();
}

/** A `pluginrpc.v1.Response` with an error, whose message is printable. */
export function encodeError(code: number, message: string): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(2, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int32(code);
  writer.tag(2, WireType.LengthDelimited).string(message);
  writer.join();
  return writer.finish();
}
