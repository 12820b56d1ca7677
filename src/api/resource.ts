import type { FieldReference } from "./field.ts";

/** A piece of a resource's id: text, or what the request or the caller puts there (ANNO-6). */
export type ResourcePart =
  | {
      readonly kind: "literal";
      /** The text, the same in every call. */
      readonly text: string;
    }
  | {
      readonly kind: "field";
      /** A field of the request, by its path in protobuf names: `skill.skill_id`. */
      readonly path: string;
    }
  /**
   * One segment of a request field that a path variable binds: `{name.merchants}`
   * is what follows `merchants` in a `name` of the pattern `merchants/*`.
   */
  | {
      readonly kind: "segment";
      /** The field of the request, by its path in protobuf names. */
      readonly path: string;
      /** The literal before the segment, or the number of the wildcard. */
      readonly segment: string;
      /** The patterns that the RPC's bindings give the field; a value matches one of them. */
      readonly patterns: readonly string[];
    }
  | {
      readonly kind: "principal";
      /** A field of the caller, in protobuf names: `{principal.organization_id}` has `organization_id`. */
      readonly field: string;
    };

/** The object that is checked: `authz.resource`, parsed. */
export interface ResourceTemplate {
  /** The type of the authorization model, such as `skill`. */
  readonly type: string;
  /** The pieces of the id; `*` asks for at least one object of the type. */
  readonly id: "*" | readonly ResourcePart[];
}

/** A resource as an annotation declares it. */
export type DeclaredResource =
  | {
      readonly template: ResourceTemplate;
      /** The request fields that its placeholders name, in order. */
      readonly fields: readonly FieldReference[];
      /** The request field whose name says that it has the id of an object of the type: `item_id` for `item`. */
      readonly objectField?: string;
    }
  | { readonly template?: undefined; readonly error: string };

/** The reserved first segment of a placeholder that reads the caller. */
const PRINCIPAL_ROOT = "principal";

/** A field of the principal. */
export interface PrincipalField {
  /** The name as protobuf spells it. */
  readonly name: string;
  /** Whether the field is a list, which a placeholder cannot name. */
  readonly list: boolean;
}

/** The fields of the principal. */
export const PRINCIPAL_FIELDS: readonly PrincipalField[] = [
  { name: "subject_id", list: false },
  { name: "username", list: false },
  { name: "name", list: false },
  { name: "email", list: false },
  { name: "organization_id", list: false },
  { name: "groups", list: true },
  { name: "roles", list: true },
  { name: "scopes", list: true },
  { name: "source", list: false },
];

/** The maximum size of an object id. */
const MAX_OBJECT_ID_BYTES = 256;

const TYPE = /^(?:[a-z][a-z0-9_]{1,61}[a-z0-9]\/)*[a-z][a-z0-9_]{1,62}[a-z0-9]$/;
// The last name may be a segment of a resource name, which need not be an identifier.
const FIELD_PATH = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*(?:\.[A-Za-z0-9_-]+)?$/;
// Control characters, white space, `#` and `*` would let one id read as another object reference.
const FORBIDDEN = /[#*\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Parses `authz.resource`.
 *
 * @returns the template, or an error of one line.
 */
export function parseResource(
  text: string,
): { template: ResourceTemplate } | { template?: undefined; error: string } {
  const colon = text.indexOf(":");
  if (colon < 0) {
    return { error: `"${text}" has no type; write type:id, such as ${withType(text)}` };
  }
  const type = text.slice(0, colon);
  if (!TYPE.test(type)) {
    const why = type.includes("{")
      ? "a type cannot contain a placeholder"
      : "a type has 3 to 64 characters of a-z, 0-9 and _, and starts with a letter";
    return { error: `"${type}" is not a type: ${why}` };
  }
  const id = text.slice(colon + 1);
  if (id === "") {
    return { error: `"${text}" has an empty id; write ${type}:{field} or ${type}:*` };
  }
  if (id === "*") return { template: { type, id: "*" } };
  return parseId(type, id);
}

/** The probable intent of a resource without a type: `ledger {name}` is `ledger:{name}`. */
function withType(text: string): string {
  if (text === "*") return "skill:*";
  const [word = ""] = /^[a-z0-9_/]*/.exec(text) ?? [];
  const [placeholder = "{id}"] = /\{[\w.]+\}/.exec(text) ?? [];
  return `${TYPE.test(word) ? word : "skill"}:${placeholder}`;
}

function parseId(
  type: string,
  id: string,
): { template: ResourceTemplate } | { template?: undefined; error: string } {
  const parts: ResourcePart[] = [];
  let literalBytes = 0;
  let at = 0;
  while (at < id.length) {
    if (id[at] === "{") {
      const end = id.indexOf("}", at);
      if (end < 0) return { error: `the placeholder "${id.slice(at)}" has no closing brace` };
      const path = id.slice(at + 1, end);
      if (!FIELD_PATH.test(path)) {
        return {
          error: `"{${path}}" is not a placeholder; write a field path, such as {skill.skill_id}`,
        };
      }
      const before = parts.at(-1);
      if (before !== undefined && before.kind !== "literal") {
        return {
          error: `"{${path}}" follows another placeholder, so different values could give the same id; put a character such as "/" between them`,
        };
      }
      parts.push(placeholder(path));
      at = end + 1;
      continue;
    }
    const brace = id.indexOf("{", at);
    const text = id.slice(at, brace < 0 ? id.length : brace);
    const error = literalError(text);
    if (error !== undefined) return { error };
    literalBytes += Buffer.byteLength(text);
    parts.push({ kind: "literal", text });
    at += text.length;
  }
  if (literalBytes > MAX_OBJECT_ID_BYTES) {
    return { error: `the id has ${literalBytes} bytes; the limit is ${MAX_OBJECT_ID_BYTES}` };
  }
  return { template: { type, id: parts } };
}

function placeholder(path: string): ResourcePart {
  if (path === PRINCIPAL_ROOT) return { kind: "principal", field: "" };
  if (path.startsWith(`${PRINCIPAL_ROOT}.`)) {
    return { kind: "principal", field: path.slice(PRINCIPAL_ROOT.length + 1) };
  }
  return { kind: "field", path };
}

function literalError(text: string): string | undefined {
  if (text.includes("}")) return `"}" in "${text}" has no matching "{"`;
  const bad = FORBIDDEN.exec(text)?.[0];
  if (bad === undefined) return undefined;
  if (bad === "*") return `"*" must be the whole id, as in type:*`;
  return `${JSON.stringify(bad)} is not allowed in an object id`;
}

/** The template as text, as an annotation writes it. */
export function formatResource(template: ResourceTemplate): string {
  if (template.id === "*") return `${template.type}:*`;
  return `${template.type}:${template.id.map(formatPart).join("")}`;
}

function formatPart(part: ResourcePart): string {
  switch (part.kind) {
    case "literal":
      return part.text;
    case "field":
      return `{${part.path}}`;
    case "segment":
      return `{${part.path}.${part.segment}}`;
    case "principal":
      return `{${PRINCIPAL_ROOT}.${part.field}}`;
  }
}
