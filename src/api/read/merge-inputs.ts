import { compareText } from "../../diagnostics/diagnostic.ts";
import { DescriptorError, type FileOutline } from "../descriptors/file-outline.ts";
import type { MethodOutline } from "../descriptors/method-outline.ts";
import { readDefinedTypes, scopeOf, syntaxOf } from "./annotation/definition.ts";

const ANNOTATION_PACKAGE = "svc.access.v1";

/** The copy of a file in one input. */
export interface FileCopy {
  readonly outline: FileOutline;
  readonly bytes: Uint8Array;
  /** Where it was read from, for messages. */
  readonly input?: string;
}

/**
 * The files of all inputs, each once, sorted, so that the order of the inputs does not change outputs.
 *
 * Images share files: the annotation, Google's files, those of a common module. Equal copies become one.
 * A copy of a later version, which only adds declarations, replaces the others. Contradicting copies are
 * an error: immediately if several inputs serve the file, otherwise when a part of the file is needed.
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
      if (seen.has(name)) throw new DescriptorError(`the input contains ${name} twice`);
      seen.add(name);
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [copy]);
      else if (!known.some((other) => isSame(copy, other))) known.push(copy);
    }
  }
  const files = [...byName.values()].map((copies) => mergeCopies(copies, isServed));
  return files.sort((left, right) => compareText(left.name, right.name));
}

/** Merges different copies of a file. */
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
  // The enforced policies must not depend on the choice between two versions.
  const [first, ...others] = sorted.filter(({ outline }) => outline.target);
  if (isOwn && first !== undefined) {
    for (const other of others) {
      const served = servedDifference(first.outline, other.outline);
      if (served !== undefined) throw differentFiles(file.name, served, [first, other]);
    }
  }
  const services = read.length === 0 ? { most: file } : mostOf(read, serviceFacts);
  const difference = ofTypes ?? services.difference;
  if (difference === undefined) {
    return { ...services.most, messages: file.messages, enums: file.enums };
  }
  const conflict = differentFiles(file.name, difference);
  // Each input is checked with its own copy of the annotation.
  if (isOwn && read.length > 1 && file.package !== ANNOTATION_PACKAGE) throw conflict;
  return { ...services.most, conflict: conflict.message };
}

/** The first file with all declarations of the others; if there is none, the first file, and a difference. */
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

function differentFiles(
  name: string,
  difference: string,
  copies: readonly FileCopy[] = [],
): DescriptorError {
  const inputs = new Set(copies.flatMap(({ input }) => (input === undefined ? [] : [input])));
  const where = inputs.size < 2 ? "" : ` (the inputs are ${[...inputs].join(" and ")})`;
  return new DescriptorError(
    `two inputs contain different files named ${name}: ${difference}${where}; build all inputs from one version of it (rebuild the older image), or give each repository its own folder`,
  );
}

function isSame(left: FileCopy, right: FileCopy): boolean {
  return (
    left.outline.target === right.outline.target && Buffer.compare(left.bytes, right.bytes) === 0
  );
}

/** How the enforced policies differ: in the RPCs, or in the options of one; undefined if they are equal. */
function servedDifference(left: FileOutline, right: FileOutline): string | undefined {
  if (encode(servedOf(left)) === encode(servedOf(right))) return undefined;
  const [ofLeft, ofRight] = [serviceFacts(left), serviceFacts(right)];
  const difference = firstDifference(ofLeft, ofRight) ?? firstDifference(ofRight, ofLeft);
  if (difference !== undefined) return difference;
  const methods = new Map(
    right.services.flatMap((service) =>
      service.methods.map((method): [string, MethodOutline] => [
        `${service.name}/${method.name}`,
        method,
      ]),
    ),
  );
  for (const service of left.services) {
    for (const method of service.methods) {
      const other = methods.get(`${service.name}/${method.name}`);
      const what = other === undefined ? undefined : differentOption(method, other);
      if (what !== undefined) {
        return `${what} of ${left.package}.${service.name}/${method.name} differs`;
      }
    }
  }
  return "the order of its RPCs differs";
}

function differentOption(left: MethodOutline, right: MethodOutline): string | undefined {
  if (
    encode([left.policy, left.isPolicyForeign]) !== encode([right.policy, right.isPolicyForeign])
  ) {
    return "the access policy";
  }
  if (encode(left.http) !== encode(right.http)) return "google.api.http";
  return encode(left) === encode(right) ? undefined : "an option";
}

function servedOf(file: FileOutline): unknown {
  return [file.package, file.services];
}

function encode(served: unknown): string {
  return JSON.stringify(served, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
}

/** The declarations of a file: each one's name and content. */
type FileFacts = ReadonlyMap<string, string>;

/** The messages and enums of a file, with everything that gives their bytes a meaning. */
function typeFacts(file: FileOutline): FileFacts {
  const { messages, enums } = readDefinedTypes(file);
  const edition = file.edition === 0 ? "" : ` ${file.edition}`;
  const facts = new Map([
    ["the package", file.package],
    ["the syntax", `${syntaxOf(file)}${edition}`],
  ]);
  for (const { name: message, fields } of messages) {
    facts.set(`the message ${message}`, "");
    for (const { name, number, label, type } of fields) {
      const said = label === "" ? `${type} ${name}` : `${label} ${type} ${name}`;
      facts.set(`field ${number} of ${message}`, said);
    }
  }
  for (const { name, values } of enums) {
    facts.set(`the enum ${name}`, "");
    for (const [value, number] of values) facts.set(`${value} of ${name}`, `${number}`);
  }
  return facts;
}

/** The services of a file and their RPCs, without their options. */
function serviceFacts(file: FileOutline): FileFacts {
  const facts = new Map<string, string>();
  const prefix = scopeOf(file);
  for (const { name, methods } of file.services) {
    facts.set(`the service ${prefix}${name}`, "");
    for (const { name: method, request, response, stream } of methods) {
      facts.set(`${prefix}${name}/${method}`, `${request} to ${response}, ${stream}`);
    }
  }
  return facts;
}

/**
 * The first declaration of one file that another file lacks or that differs there; undefined if
 * there is none.
 */
function firstDifference(of: FileFacts, from: FileFacts): string | undefined {
  for (const [what, said] of of) {
    const other = from.get(what);
    if (other === undefined) return `only one has ${what}${said === "" ? "" : ` (${said})`}`;
    if (other !== said) {
      const [first, last] = [said, other].sort();
      return `${what} is "${first}" in one and "${last}" in the other`;
    }
  }
  return undefined;
}
