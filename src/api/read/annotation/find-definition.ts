import { DescriptorError, type FileOutline } from "../../descriptors/file-outline.ts";
import { EXTENSION, NESTED_TYPE } from "../../descriptors/message-outline.ts";
import { eachField, nameOf, WireType } from "../../descriptors/wire.ts";
import { POLICY_EXTENSION } from "../../policy.ts";
import {
  type AnnotationDefinition,
  type DefinedEnum,
  type DefinedExtension,
  type DefinedMessage,
  readDefinedEnum,
  readDefinedField,
  readDefinedMessage,
  scopeOf,
} from "./definition.ts";

/** The full name of the annotation. */
export const POLICY_NAME = "svc.access.v1.policy";
const PACKAGE = "svc.access.v1";
/** The message that options of RPCs extend. */
export const EXTENDEE = "google.protobuf.MethodOptions";

/**
 * Finds how an input defines the annotation: each extension with its number
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
      messages.push(...file.messages.map(({ bytes }) => readDefinedMessage(bytes, file)));
      enums.push(...file.enums.map((bytes) => readDefinedEnum(bytes, file)));
    });
  }
  return { extensions, messages, enums };
}

/** The extensions that files declare, including nested ones. */
export function declaredExtensions(files: Iterable<FileOutline>): DefinedExtension[] {
  const extensions: DefinedExtension[] = [];
  for (const file of files) readFrom(file, () => extensions.push(...extensionsOf(file)));
  return extensions;
}

/** Runs a reader of bytes that may be damaged. */
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

function extensionsOf(file: FileOutline): DefinedExtension[] {
  const scope = scopeOf(file);
  const extensions = file.extensions.map((bytes) => extensionOf(bytes, file, scope));
  for (const { bytes, declaresExtensions } of file.messages) {
    if (declaresExtensions) extensions.push(...nestedExtensions(bytes, file, scope));
  }
  return extensions;
}

/** The reader of outlines limits the nesting of messages. */
function nestedExtensions(bytes: Uint8Array, file: FileOutline, scope: string): DefinedExtension[] {
  const inner = `${scope}${nameOf(bytes)}.`;
  const extensions: DefinedExtension[] = [];
  eachField(bytes, (number, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    if (number === EXTENSION) extensions.push(extensionOf(reader.bytes(), file, inner));
    else if (number === NESTED_TYPE) {
      extensions.push(...nestedExtensions(reader.bytes(), file, inner));
    } else return false;
    return true;
  });
  return extensions;
}

function extensionOf(bytes: Uint8Array, file: FileOutline, scope: string): DefinedExtension {
  const { field, extendee } = readDefinedField(bytes, [], scope);
  return { file: file.name, extendee, field };
}
