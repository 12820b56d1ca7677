import {
  HALVES,
  INVISIBLE,
  printable,
  printableJsonLine,
  UNPRINTABLE,
} from "../../common/printable.ts";
import { MAX_NESTING, type MessageOutline, MessageOutlineReader } from "./message-outline.ts";
import { readService, type ServiceOutline } from "./method-outline.ts";
import { eachField, joined, WireType } from "./wire.ts";

/** A file as a source of descriptors holds it. */
export interface DescriptorFile {
  /** An encoded `google.protobuf.FileDescriptorProto`. */
  readonly bytes: Uint8Array;
  /** Whether the file is an input itself, and not only imported by one. */
  readonly target: boolean;
  /** What it was read from, for messages: the path of an image or a folder. */
  readonly input?: string;
}

/**
 * The first stage of reading a file: names, services and their options. The
 * rest is kept encoded until it is needed.
 */
export interface FileOutline {
  readonly name: string;
  readonly package: string;
  readonly target: boolean;
  /** `proto2` (even if empty), `proto3` or `editions`. */
  readonly syntax: string;
  /** The number of the edition; 0 without. */
  readonly edition: number;
  readonly services: readonly ServiceOutline[];
  /** The top-level messages. */
  readonly messages: readonly MessageOutline[];
  /** Encoded `EnumDescriptorProto`s of the top-level enums. */
  readonly enums: readonly Uint8Array[];
  /** Encoded `FieldDescriptorProto`s of the top-level extensions. */
  readonly extensions: readonly Uint8Array[];
  /** The encoded `SourceCodeInfo`; absent if the input was built without it. */
  readonly sourceInfo?: Uint8Array;
  /** Why it cannot be used: inputs contain different versions of it. */
  readonly conflict?: string;
}

/** A file cannot be read. */
export class DescriptorError extends Error {
  override readonly name = "DescriptorError";
}

/**
 * Reads the outline of a file.
 *
 * @throws DescriptorError if the bytes are not a file descriptor.
 */
export function readFileOutline(file: DescriptorFile): FileOutline {
  let name = "";
  try {
    let packageName = "";
    const services: ServiceOutline[] = [];
    const messages: MessageOutline[] = [];
    const messageReader = new MessageOutlineReader();
    const enums: Uint8Array[] = [];
    const extensions: Uint8Array[] = [];
    let syntax = "";
    let edition = 0;
    const sourceInfo: Uint8Array[] = [];
    eachField(file.bytes, (field, wireType, reader) => {
      if (field === 14 && wireType === WireType.Varint) edition = reader.int32();
      else if (wireType !== WireType.LengthDelimited) return false;
      else if (field === 1) name = reader.string();
      else if (field === 2) packageName = reader.string();
      else if (field === 4) messages.push(messageReader.read(reader));
      else if (field === 5) enums.push(reader.bytes());
      else if (field === 7) extensions.push(reader.bytes());
      else if (field === 12) syntax = reader.string();
      else if (field === 6 && file.target) services.push(readService(reader));
      else if (field === 9 && file.target) sourceInfo.push(reader.bytes());
      else return false;
      return true;
    });
    if (name === "") throw new DescriptorError("a file of the input has no name");
    checkNames(name, packageName, services);
    if (messageReader.nestsTooDeep) {
      throw new DescriptorError(
        `the messages of ${name} nest more than ${MAX_NESTING} deep, which no compiler allows; declare them side by side`,
      );
    }
    const { target } = file;
    const outline = {
      name,
      package: packageName,
      target,
      syntax,
      edition,
      services,
      messages,
      enums,
      extensions,
    };
    return sourceInfo.length === 0 ? outline : { ...outline, sourceInfo: joined(sourceInfo) };
  } catch (error) {
    if (error instanceof DescriptorError) throw error;
    const what = name === "" ? "a file of the input" : name;
    throw new DescriptorError(
      `${what} is not a valid file descriptor: ${(error as Error).message}`,
    );
  }
}

/** The name and package of a file, and whether it declares services. */
export interface FileHeader {
  readonly name: string;
  readonly package: string;
  readonly hasServices: boolean;
}

/** Reads the header of an encoded file. */
export function readFileHeader(bytes: Uint8Array): FileHeader {
  const header = { name: "", package: "", hasServices: false };
  eachField(bytes, (field, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    if (field === 1) header.name = reader.string();
    else if (field === 2) header.package = reader.string();
    else {
      if (field === 6) header.hasServices = true;
      return false;
    }
    return true;
  });
  return header;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FULL_NAME = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** Characters that would end a line, hide text or change its direction in a generated file. */
const UNSAFE = new RegExp(`[${UNPRINTABLE}${INVISIBLE}${HALVES}]`, "u");

/**
 * Checks the name of a message or an enum. Those that no RPC uses are not checked when their file is read, but code
 * is only generated from valid ones.
 *
 * @throws DescriptorError
 */
export function checkTypeName(file: string, what: "a message" | "an enum", name: string): void {
  if (!IDENTIFIER.test(name)) throw invalidName(file, what, name);
}

function invalidName(file: string, what: string, name: string): DescriptorError {
  return new DescriptorError(
    `${printableJsonLine(name)} of ${printable(file)} is not a valid name of ${what}`,
  );
}

/** Compilers accept only such names. The check keeps forged descriptors out of generated code. */
function checkNames(file: string, packageName: string, services: readonly ServiceOutline[]): void {
  const refuse = (what: string, name: string) => {
    throw invalidName(file, what, name);
  };
  if (UNSAFE.test(file)) refuse("a file", file);
  if (packageName !== "" && !FULL_NAME.test(packageName)) refuse("a package", packageName);
  for (const { name, methods } of services) {
    if (!IDENTIFIER.test(name)) refuse("a service", name);
    for (const method of methods) {
      if (!IDENTIFIER.test(method.name)) refuse("an RPC", method.name);
      for (const message of [method.request, method.response]) {
        if (message !== "" && !FULL_NAME.test(message)) refuse("a message", message);
      }
    }
  }
}
