import {
  createRegistry,
  type DescFile,
  type DescMessage,
  type JsonWriteOptions,
  type Message,
  type Registry,
} from "@bufbuild/protobuf";
import type { BoundMethod } from "../binding/bound-method.ts";
import { onceEach } from "../binding/reusable-message.ts";
import { compileMessageText } from "./message-text.ts";

/**
 * How messages are written: fields by their JSON names, and those without presence even if
 * they have their default value, as grpc-gateway does. A client that reads `allowed` finds
 * `false`, not nothing. Messages and oneofs that are not set are left out.
 */
export function jsonWriting(message: DescMessage, registry: Registry): Partial<JsonWriteOptions> {
  return { alwaysEmitImplicit: true, ...(needsRegistry(message) ? { registry } : {}) };
}

/** Compiles how messages are written as JSON. */
export function compileJsonText(
  message: DescMessage,
  registry: Registry,
): (value: Message) => string {
  return onceEach(compileMessageText(message, jsonWriting(message, registry)));
}

/**
 * The registry for Any and extensions: everything in the files of the services, and in their
 * imports.
 */
export function messageRegistry(methods: readonly BoundMethod[]): Registry {
  return registryOf(
    methods.flatMap(({ descriptor }) => (descriptor === undefined ? [] : [descriptor.parent.file])),
  );
}

/** Everything in some files and their imports. */
export function registryOf(roots: readonly DescFile[]): Registry {
  const files = new Set<DescFile>();
  const visit = (file: DescFile): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const dependency of file.dependencies) visit(dependency);
  };
  for (const root of roots) visit(root);
  return createRegistry(...files);
}

/**
 * Whether an Any or an extension can occur anywhere in a message. Only those need a registry,
 * and with one protobuf-es looks for extensions in each message.
 */
export function needsRegistry(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (message.typeName === "google.protobuf.Any") return true;
  if (message.proto.extensionRange.length > 0) return true;
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => {
    const { message: inner } = field;
    return inner !== undefined && needsRegistry(inner, seen);
  });
}
