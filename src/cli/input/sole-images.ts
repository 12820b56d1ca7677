import { fileName } from "../../api/descriptors/code-generator-request.ts";
import type { CheckedApi } from "../../compiler/read-and-check.ts";
import type { Input } from "./inputs.ts";

/**
 * Notes about images that are the only input with the protos of several services. Such an image may
 * have a copy of the protos of a service that it calls, and the image of that service was forgotten:
 * then the edge would enforce the copy's policies, which may be old. With both images the copies are
 * compared.
 */
export function soleImageNotes(inputs: readonly Input[], { api }: CheckedApi): string[] {
  if (inputs.length < 2) return [];
  const sources = sourcesOf(inputs);
  const servicesOf = new Map<Input, string[]>();
  for (const { name, services, configured } of api.services) {
    const holders = new Set(services.flatMap(({ file }) => [...(sources.get(file) ?? [])]));
    const [only] = holders;
    // The folders of a repository have their own protos.
    if (!configured || only === undefined || holders.size > 1 || only.folder !== undefined)
      continue;
    servicesOf.set(only, [...(servicesOf.get(only) ?? []), name]);
  }
  return [...servicesOf]
    .filter(([, names]) => names.length > 1)
    .map(([{ files }, names]) => noteOf(files[0]?.input ?? "an image", names));
}

function noteOf(image: string, names: readonly string[]): string {
  return `${image} is the only input with the protos of the services ${names.join(", ")}; if one of them has an image of its own, add it: otherwise its policies are those of a copy, which may be old`;
}

/** The inputs that have each file themselves, and do not only import it. */
function sourcesOf(inputs: readonly Input[]): Map<string, Set<Input>> {
  const sources = new Map<string, Set<Input>>();
  for (const input of inputs) {
    for (const { bytes, target } of input.files) {
      if (!target) continue;
      const name = fileName(bytes);
      sources.set(name, (sources.get(name) ?? new Set()).add(input));
    }
  }
  return sources;
}
