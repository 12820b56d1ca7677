import { createRegistry, type DescFile, type Registry } from "@bufbuild/protobuf";
import type { BoundMethod } from "../binding/bound-method.ts";

/** The messages that an Any may hold: all in the files of the services, and in what those import. */
export function messageRegistry(methods: readonly BoundMethod[]): Registry {
  const files = new Set<DescFile>();
  const visit = (file: DescFile): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const dependency of file.dependencies) visit(dependency);
  };
  for (const { descriptor } of methods) if (descriptor !== undefined) visit(descriptor.parent.file);
  return createRegistry(...files);
}
