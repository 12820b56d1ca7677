import {
  type DescMessage,
  type JsonWriteOptions,
  type Message,
  type Registry,
  toJson,
} from "@bufbuild/protobuf";
import { needsRegistry } from "./message-registry.ts";

/**
 * How messages are written: fields by their JSON names, and those without presence also where
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
  const options = jsonWriting(message, registry);
  return (value) => JSON.stringify(toJson(message, value, options));
}
