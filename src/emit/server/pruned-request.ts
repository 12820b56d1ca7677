import { create } from "@bufbuild/protobuf";
import {
  type CodeGeneratorRequest,
  CodeGeneratorRequestSchema,
  type DescriptorProto,
  DescriptorProtoSchema,
  type EnumDescriptorProto,
  EnumDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  type ServiceDescriptorProto,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import {
  checkTypeName,
  DescriptorError,
  type FileOutline,
} from "../../api/descriptors/file-outline.ts";
import type { MessageIndex } from "../../api/descriptors/message-index.ts";
import { eachField, WireType } from "../../api/descriptors/wire.ts";

/**
 * A request for protoplugin with only the parts that stubs need: the services, and
 * the names of the types in files that they refer to. Fields and options would take
 * most of the time and are not used here.
 *
 * @throws DescriptorError if the input does not contain a message of an RPC, or a type has a name that no compiler
 * allows.
 */
export function prunedRequest(
  files: readonly FileOutline[],
  messages: MessageIndex,
  parameter: string,
): CodeGeneratorRequest {
  const pruned = new Map<string, FileDescriptorProto>();
  const filesToGenerate: string[] = [];
  for (const file of files) {
    if (!file.target || file.services.length === 0) continue;
    filesToGenerate.push(file.name);
    const dependencies = new Set<string>();
    for (const { methods } of file.services) {
      for (const { name, request, response } of methods) {
        for (const type of [request, response]) {
          const declaring = messages.fileOf(type);
          if (declaring === undefined) {
            throw new DescriptorError(
              `the input does not contain ${type}, which ${name} of ${file.name} uses; build it with its imports`,
            );
          }
          dependencies.add(declaring.name);
          if (!pruned.has(declaring.name)) pruned.set(declaring.name, pruneFile(declaring));
        }
      }
    }
    const own = pruned.get(file.name) ?? pruneFile(file);
    own.dependency = [...dependencies].filter((name) => name !== file.name);
    pruned.set(file.name, own);
  }
  return create(CodeGeneratorRequestSchema, {
    fileToGenerate: filesToGenerate,
    parameter,
    protoFile: inOrderOfImports(pruned),
  });
}

/** Orders files after their imports, as in every request. Imports have no cycles. */
function inOrderOfImports(files: ReadonlyMap<string, FileDescriptorProto>): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto | undefined) => {
    if (file === undefined || ordered.has(file)) return;
    for (const name of file.dependency) add(files.get(name));
    ordered.add(file);
  };
  for (const file of files.values()) add(file);
  return [...ordered];
}

function pruneFile(file: FileOutline): FileDescriptorProto {
  return create(FileDescriptorProtoSchema, {
    name: file.name,
    package: file.package,
    syntax: file.syntax,
    edition: file.edition,
    messageType: file.messages.flatMap(({ bytes }) => pruneMessage(bytes, file.name)),
    enumType: file.enums.map((bytes) => pruneEnum(bytes, file.name)),
    service: file.services.map(pruneService),
  });
}

function pruneService(service: FileOutline["services"][number]): ServiceDescriptorProto {
  return create(ServiceDescriptorProtoSchema, {
    name: service.name,
    method: service.methods.map(({ name, request, response, stream }) => {
      return {
        name,
        inputType: `.${request}`,
        outputType: `.${response}`,
        clientStreaming: stream === "client_streaming" || stream === "bidi_streaming",
        serverStreaming: stream === "server_streaming" || stream === "bidi_streaming",
      };
    }),
  });
}

/** The names in a message; empty for a map entry, which has no generated code. */
function pruneMessage(bytes: Uint8Array, file: string): DescriptorProto[] {
  let isMapEntry = false;
  const message = create(DescriptorProtoSchema);
  eachField(bytes, (field, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    if (field === 1) message.name = reader.string();
    else if (field === 3) message.nestedType.push(...pruneMessage(reader.bytes(), file));
    else if (field === 4) message.enumType.push(pruneEnum(reader.bytes(), file));
    else if (field === 7) isMapEntry = readMapEntry(reader.bytes());
    else return false;
    return true;
  });
  if (isMapEntry) return [];
  checkTypeName(file, "a message", message.name);
  return [message];
}

function readMapEntry(options: Uint8Array): boolean {
  let isMapEntry = false;
  eachField(options, (field, wireType, reader) => {
    if (field !== 7 || wireType !== WireType.Varint) return false;
    isMapEntry = reader.bool();
    return true;
  });
  return isMapEntry;
}

function pruneEnum(bytes: Uint8Array, file: string): EnumDescriptorProto {
  let name = "";
  eachField(bytes, (field, wireType, reader) => {
    if (field !== 1 || wireType !== WireType.LengthDelimited) return false;
    name = reader.string();
    return true;
  });
  checkTypeName(file, "an enum", name);
  // An enum must have a value; its name is not used here.
  return create(EnumDescriptorProtoSchema, { name, value: [{ name: `${name}_0`, number: 0 }] });
}
