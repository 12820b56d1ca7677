import { compareText } from "../../diagnostics/diagnostic.ts";
import { type FileFacts, firstDifference, serviceFacts, typeFacts } from "./file-facts.ts";
import { DescriptorError, type FileOutline } from "./file-outline.ts";

const ANNOTATION_PACKAGE = "svc.access.v1";

/** A file as an input holds it. */
export interface FileCopy {
  readonly outline: FileOutline;
  readonly bytes: Uint8Array;
}

/**
 * The files of all inputs, each once, sorted: no order of the inputs reaches an output.
 *
 * Images share files: the annotation, google's, those of a common module. Copies that say the same are
 * one. A copy of a later version, which says all that the others say and more, stands for them. Copies
 * that contradict each other are an error: at once where several inputs serve it, else where something of
 * it is needed.
 *
 * @param isServed whether the RPCs of a package are served, and not only called
 */
export function mergeInputs(
  inputs: readonly (readonly FileCopy[])[],
  isServed: (packageName: string) => boolean,
): FileOutline[] {
  const byName = new Map<string, FileCopy[]>();
  for (const files of inputs) {
    const seen = new Set<string>();
    for (const copy of files) {
      const { name } = copy.outline;
      if (seen.has(name)) throw new DescriptorError(`the input holds ${name} twice`);
      seen.add(name);
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [copy]);
      else if (!known.some((other) => isSame(copy, other))) known.push(copy);
    }
  }
  const files = [...byName.values()].map((copies) => mergeCopies(copies, isServed));
  return files.sort((left, right) => compareText(left.name, right.name));
}

/** The copies, each another one, as one file. */
function mergeCopies(
  copies: readonly FileCopy[],
  isServed: (packageName: string) => boolean,
): FileOutline {
  const [only] = copies;
  if (only !== undefined && copies.length === 1) return only.outline;
  const sorted = [...copies].sort((left, right) => Buffer.compare(left.bytes, right.bytes));
  const outlines = sorted.map(({ outline }) => outline);
  const read = outlines.filter(({ target }) => target);
  const { most: file, difference: ofTypes } = mostOf(outlines, typeFacts);
  const isOwn = read.some((outline) => isServed(outline.package));
  // What is enforced must not depend on which of two versions is taken.
  if (isOwn && read.some((other) => !sameServices(read[0] ?? other, other))) {
    throw differentFiles(file.name);
  }
  const services = read.length === 0 ? { most: file } : mostOf(read, serviceFacts);
  const difference = ofTypes ?? services.difference;
  if (difference === undefined) {
    return { ...services.most, messages: file.messages, enums: file.enums };
  }
  const conflict = differentFiles(file.name, difference);
  // Of the annotation, each input is judged by its own copy.
  if (isOwn && read.length > 1 && file.package !== ANNOTATION_PACKAGE) throw conflict;
  return { ...services.most, conflict: conflict.message };
}

/** The first file that says all that the others say; where there is none, the first, and how they differ. */
function mostOf(
  files: readonly FileOutline[],
  factsOf: (file: FileOutline) => FileFacts,
): { most: FileOutline; difference?: string } {
  const facts = files.map((file) => ({ file, said: factsOf(file) }));
  const holds = (said: FileFacts) =>
    facts.every((other) => firstDifference(other.said, said) === undefined);
  const most = facts.find(({ said }) => holds(said));
  if (most !== undefined) return { most: most.file };
  const [first, ...others] = facts as [(typeof facts)[0], ...typeof facts];
  for (const other of others) {
    const difference = firstDifference(other.said, first.said);
    if (difference !== undefined) return { most: first.file, difference };
  }
  throw new Error("one of the files says all");
}

function differentFiles(name: string, difference?: string): DescriptorError {
  const how =
    difference === undefined ? ";" : `: ${difference}; build all inputs from one version of it, or`;
  return new DescriptorError(
    `two inputs hold different files named ${name}${how} give each repository a folder of its own`,
  );
}

function isSame(left: FileCopy, right: FileCopy): boolean {
  return (
    left.outline.target === right.outline.target && Buffer.compare(left.bytes, right.bytes) === 0
  );
}

function sameServices(left: FileOutline, right: FileOutline): boolean {
  const encode = (file: FileOutline) =>
    JSON.stringify([file.package, file.services], (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
    );
  return encode(left) === encode(right);
}
