import { DescriptorError, type DescriptorFile } from "./file-outline.ts";
import { eachField, plainBytes, WireType } from "./wire.ts";

/** The request of a compiler to a protoc plugin. */
export interface GeneratorRequest {
  readonly files: readonly DescriptorFile[];
  /** The names of the files to generate for. */
  readonly filesToGenerate: readonly string[];
  /** The plugin's options, joined with commas. */
  readonly parameter: string;
  /** Whether the compiler sent its version: protoc does, buf does not. */
  readonly isProtoc: boolean;
}

/**
 * Reads a `google.protobuf.compiler.CodeGeneratorRequest`.
 *
 * @throws DescriptorError if the bytes are not such a request, or name a file that they do not contain.
 */
export function readCodeGeneratorRequest(bytes: Uint8Array): GeneratorRequest {
  const descriptors: Uint8Array[] = [];
  const filesToGenerate: string[] = [];
  let parameter = "";
  let isProtoc = false;
  try {
    eachField(plainBytes(bytes), (field, wireType, reader) => {
      if (wireType !== WireType.LengthDelimited) return false;
      if (field === 1) filesToGenerate.push(reader.string());
      else if (field === 2) parameter = reader.string();
      else if (field === 15) descriptors.push(reader.bytes());
      else {
        if (field === 3) isProtoc = true;
        return false;
      }
      return true;
    });
  } catch (error) {
    throw new DescriptorError(
      `standard input is not a CodeGeneratorRequest: ${(error as Error).message}`,
    );
  }
  if (filesToGenerate.length === 0) {
    throw new DescriptorError(
      "standard input is not a CodeGeneratorRequest, or names no file; run this plugin with buf generate or protoc",
    );
  }
  // In an image, field 1 holds files; in a request, it holds names.
  if (filesToGenerate.some((name) => /\p{Cc}/u.test(name))) {
    throw new DescriptorError(
      "standard input is not a CodeGeneratorRequest; svc-access generate reads images",
    );
  }
  const missing = new Set(filesToGenerate);
  const files = descriptors.map((descriptor): DescriptorFile => {
    const name = fileName(descriptor);
    return { bytes: descriptor, target: missing.delete(name) };
  });
  for (const name of missing) {
    throw new DescriptorError(`the request names ${name}, but does not contain it`);
  }
  return { files, filesToGenerate, parameter, isProtoc };
}

/** The name of an encoded file; compilers write it first. */
export function fileName(descriptor: Uint8Array): string {
  let name = "";
  try {
    eachField(descriptor, (field, wireType, reader) => {
      if (field !== 1 || wireType !== WireType.LengthDelimited) return false;
      name = reader.string();
      return true;
    });
  } catch (error) {
    throw new DescriptorError(
      `a file of the input is not a valid file descriptor: ${(error as Error).message}`,
    );
  }
  return name;
}
