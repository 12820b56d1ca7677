import type { DescFile, DescMessage, DescMethod, Registry } from "@bufbuild/protobuf";
import { needsRegistry, registryOf } from "../../json/message-registry.ts";

const NONE: { readonly registry?: Registry } = Object.freeze({});
const needy = new WeakMap<DescMessage, boolean>();
const byFile = new WeakMap<DescFile, { readonly registry: Registry }>();

/**
 * How protobuf-es reads and writes the JSON of a message of an RPC: where it may hold an Any
 * or extensions, with what those may be, which is all that the service's file knows.
 */
export function jsonOptions(
  { parent: { file } }: DescMethod,
  message: DescMessage,
): { readonly registry?: Registry } {
  let isNeedy = needy.get(message);
  if (isNeedy === undefined) needy.set(message, (isNeedy = needsRegistry(message)));
  if (!isNeedy) return NONE;
  let options = byFile.get(file);
  if (options === undefined) byFile.set(file, (options = { registry: registryOf([file]) }));
  return options;
}
