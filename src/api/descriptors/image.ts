import { DescriptorError, type DescriptorFile } from "./file-outline.ts";
import { eachField, plainBytes, WireType } from "./wire.ts";

/** The extension of a buf image's file that says whether it is an import. */
const BUF_EXTENSION = 8042;

/**
 * Reads a buf image, or a `google.protobuf.FileDescriptorSet`, whose files are
 * all targets.
 *
 * @param bytes - the encoded image
 * @param source - where the bytes came from, for the error message
 * @throws DescriptorError if the bytes are not an image.
 */
export function readImage(bytes: Uint8Array, source: string): DescriptorFile[] {
  const files: DescriptorFile[] = [];
  try {
    eachField(plainBytes(bytes), (field, wireType, reader) => {
      if (field !== 1 || wireType !== WireType.LengthDelimited) {
        throw new Error(`unexpected field ${field}`);
      }
      const file = reader.bytes();
      files.push({ bytes: file, target: !isImport(file) });
      return true;
    });
  } catch (error) {
    throw notAnImage(source, (error as Error).message);
  }
  if (files.length === 0) throw notAnImage(source, "it is empty");
  return files;
}

function notAnImage(source: string, why: string): DescriptorError {
  return new DescriptorError(`${source} is not a buf image (${why}); make one with buf build -o`);
}

function isImport(file: Uint8Array): boolean {
  let isImport = false;
  eachField(file, (field, wireType, reader) => {
    if (field !== BUF_EXTENSION || wireType !== WireType.LengthDelimited) return false;
    reader.message((inner, innerType, extension) => {
      if (inner !== 1 || innerType !== WireType.Varint) return false;
      isImport = extension.bool();
      return true;
    });
    return true;
  });
  return isImport;
}
