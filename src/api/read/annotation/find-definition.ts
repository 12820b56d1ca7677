import { DescriptorError, type FileOutline } from "../../descriptors/file-outline.ts";
import { eachField, MAX_NESTING, WireType } from "../../descriptors/wire.ts";
import { POLICY_EXTENSION } from "../../policy.ts";
import {
  type AnnotationDefinition,
  type DefinedEnum,
  type DefinedExtension,
  type DefinedMessage,
  nameOf,
  readDefinedEnum,
  readDefinedField,
  readDefinedMessage,
  scopeOf,
} from "./definition.ts";

/** The full name of the annotation. */
export const POLICY_NAME = "svc.access.v1.policy";
const PACKAGE = "svc.access.v1";
/** What options of RPCs extend. */
export const EXTENDEE = "google.protobuf.MethodOptions";
/** What extends the options of RPCs, or a message of `google.api.http`, names it. */
const EXTENDEE_BYTES = [EXTENDEE, "google.api."].map((name) => Buffer.from(name));

/**
 * Finds what an input says of the annotation: each extension with its number
 * or its name, and the messages and enums of its package.
 *
 * @param files - all files of one input, also those that are imported only
 * @param declared - the extensions that they declare
 */
export function findDefinition(
  files: Iterable<FileOutline>,
  declared: readonly DefinedExtension[],
): AnnotationDefinition {
  const extensions = declared.filter(({ extendee, field }) => {
    const hasNumber = extendee === EXTENDEE && field.number === POLICY_EXTENSION;
    return hasNumber || field.name === POLICY_NAME;
  });
  const messages: DefinedMessage[] = [];
  const enums: DefinedEnum[] = [];
  for (const file of files) {
    if (file.package !== PACKAGE) continue;
    readFrom(file, () => {
      messages.push(...file.messages.map((bytes) => readDefinedMessage(bytes, file)));
      enums.push(...file.enums.map((bytes) => readDefinedEnum(bytes, file)));
    });
  }
  return { extensions, messages, enums };
}

/** The extensions that files declare, those inside of messages only where they may change what an option says. */
export function declaredExtensions(files: Iterable<FileOutline>): DefinedExtension[] {
  const extensions: DefinedExtension[] = [];
  for (const file of files) readFrom(file, () => extensions.push(...extensionsOf(file)));
  return extensions;
}

/** Reads what is still encoded of a file, whose bytes may be damaged. */
export function readFrom<T>(file: FileOutline, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DescriptorError) throw error;
    throw new DescriptorError(
      `${file.name} is not a valid file descriptor: ${(error as Error).message}`,
    );
  }
}

function* extensionsOf(file: FileOutline): Iterable<DefinedExtension> {
  const scope = scopeOf(file);
  for (const bytes of file.extensions) yield extensionOf(bytes, file, scope);
  for (const bytes of file.messages) yield* nestedExtensions(bytes, file, scope, 0);
}

/** An extension may also be declared inside a message. */
function* nestedExtensions(
  bytes: Uint8Array,
  file: FileOutline,
  scope: string,
  depth: number,
): Iterable<DefinedExtension> {
  if (depth > MAX_NESTING) throw new DescriptorError(`the messages of ${file.name} nest too deep`);
  // Of a large tree, hardly any message holds one: the search is far quicker than to read them all.
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!EXTENDEE_BYTES.some((name) => buffer.includes(name))) return;
  const inner = `${scope}${nameOf(bytes)}.`;
  const extensions: Uint8Array[] = [];
  const nested: Uint8Array[] = [];
  eachField(bytes, (number, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    if (number === 6) extensions.push(reader.bytes());
    else if (number === 3) nested.push(reader.bytes());
    else return false;
    return true;
  });
  for (const extension of extensions) yield extensionOf(extension, file, inner);
  for (const message of nested) {
    yield* nestedExtensions(message, file, inner, depth + 1);
  }
}

function extensionOf(bytes: Uint8Array, file: FileOutline, scope: string): DefinedExtension {
  const { field, extendee } = readDefinedField(bytes, [], scope);
  return { file: file.name, extendee, field };
}
