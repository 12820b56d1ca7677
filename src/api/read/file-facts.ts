import type { FileOutline } from "../descriptors/file-outline.ts";
import { readDefinedTypes, scopeOf, syntaxOf } from "./annotation/definition.ts";

/** The declarations of a file: each one's name and content. */
export type FileFacts = ReadonlyMap<string, string>;

/** The messages and enums of a file, with everything that gives their bytes a meaning. */
export function typeFacts(file: FileOutline): FileFacts {
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
export function serviceFacts(file: FileOutline): FileFacts {
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
export function firstDifference(of: FileFacts, from: FileFacts): string | undefined {
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
