import type { DescMessage } from "@bufbuild/protobuf";
import type { AccessResource, AccessResourcePart } from "../../api/format.ts";
import { OBJECT_IDS } from "../../model/object-id.ts";
import type { Principal } from "../call/call-context.ts";
import { ServiceError } from "../error/service-error.ts";
import { nameSegment, requestField } from "./request-field.ts";

/**
 * Renders the id of the object that is checked.
 *
 * @throws ServiceError INVALID_ARGUMENT if the request makes no object id,
 * FORBIDDEN where the caller does not
 */
export type ResourceId = (request: unknown, principal: Principal) => string;

/** A piece of an id; the text in front of the next placeholder ends it. */
interface Piece {
  readonly read: ResourceId;
  readonly isPlaceholder: boolean;
  readonly refuse: (why: string) => ServiceError;
}

/**
 * Makes the renderer of a resource's id; undefined for `*`, which names no object.
 *
 * @param input the request of the RPC; undefined if there is no single one
 * @throws Error that says why the resource can never be rendered
 */
export function resourceId(
  resource: AccessResource,
  input: DescMessage | undefined,
): ResourceId | undefined {
  if (resource.id === "*") return undefined;
  const parts = resource.id;
  refuseNeighbours(parts);
  const pieces = parts.map((part) => pieceOf(part, input));
  const literal = literalOf(parts);
  if (literal !== undefined) return () => literal;
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) {
    return (request, principal) => assertId(only.read(request, principal), only);
  }
  const separators = parts.map((_, index) => separatorBehind(parts, index));
  // The error names the request wherever it can be the cause.
  const blamed =
    pieces[parts.findIndex(({ kind }) => kind === "field" || kind === "segment")] ?? lastOf(pieces);
  return (request, principal) => {
    let id = "";
    for (const [index, piece] of pieces.entries()) {
      const text = piece.read(request, principal);
      const separator = separators[index];
      // Otherwise a caller could move the border between two fields and name another object with
      // the same id. A part of the separator at the end moves it too: "x:" and "::" are "x" and
      // ":::".
      if (separator !== undefined && (text + separator).indexOf(separator) < text.length) {
        throw piece.refuse(
          `must not contain ${JSON.stringify(separator)}, the separator that follows it in the object id`,
        );
      }
      id += text;
    }
    return assertId(id, blamed);
  };
}

function pieceOf(part: AccessResourcePart, input: DescMessage | undefined): Piece {
  switch (part.kind) {
    case "literal":
      return {
        read: () => part.text,
        isPlaceholder: false,
        refuse: (why) => new ServiceError("INTERNAL", why),
      };
    case "field":
    case "segment": {
      if (input === undefined) {
        throw new Error(`{${part.path}} cannot be read, as there is no single request`);
      }
      const field = requestField(input, part.path);
      const read = part.kind === "field" ? field : nameSegment(field, part);
      const refuse = (why: string) =>
        new ServiceError("INVALID_ARGUMENT", `the field ${part.path} ${why}`);
      return {
        read: (request) => {
          const text = read(request);
          if (text === undefined) throw refuse("is missing");
          return text;
        },
        isPlaceholder: true,
        refuse,
      };
    }
    case "principal": {
      const read = principalField(part.field);
      // The caller does not learn which field it lacks.
      const refuse = (why: string) =>
        new ServiceError("FORBIDDEN", undefined, {
          cause: new Error(`the field ${part.field} of the principal ${why}`),
        });
      return {
        read: (_, principal) => {
          const text = read(principal);
          if (text === "") throw refuse("is missing");
          return text;
        },
        isPlaceholder: true,
        refuse,
      };
    }
    default:
      throw new Error(
        `its resource has a part "${(part as { kind: string }).kind}" that this version of svc-access does not know`,
      );
  }
}

function literalOf(parts: readonly AccessResourcePart[]): string | undefined {
  let text = "";
  for (const part of parts) {
    if (part.kind !== "literal") return undefined;
    text += part.text;
  }
  if (OBJECT_IDS.allows(text)) return text;
  throw new Error(`${JSON.stringify(text)} is not an object id: ${OBJECT_IDS.description}`);
}

/** The border between the two would be ambiguous: "x", "yz" and "xy", "z" make the same id. */
function refuseNeighbours(parts: readonly AccessResourcePart[]): void {
  for (const [index, { kind }] of parts.entries()) {
    const next = parts[index + 1];
    if (kind !== "literal" && next !== undefined && next.kind !== "literal") {
      throw new Error(
        "two placeholders of its resource are adjacent; write a literal between them, such as {a}/{b}",
      );
    }
  }
}

/** The literal between a placeholder and the next one. */
function separatorBehind(parts: readonly AccessResourcePart[], index: number): string | undefined {
  if (parts[index]?.kind === "literal") return undefined;
  const next = parts[index + 1];
  const isFollowed = parts.slice(index + 2).some(({ kind }) => kind !== "literal");
  return next?.kind === "literal" && isFollowed ? next.text : undefined;
}

function lastOf(pieces: readonly Piece[]): Piece {
  return pieces.findLast(({ isPlaceholder }) => isPlaceholder) as Piece;
}

/** Ids without characters that need a closer check: nearly all. */
const PLAIN = /^[\x21\x22\x24-\x29\x2b-\x7e]{1,256}$/;

function assertId(id: string, blamed: Piece): string {
  if (PLAIN.test(id) || OBJECT_IDS.allows(id)) return id;
  throw blamed.refuse(`makes an invalid object id: it must be ${OBJECT_IDS.description}`);
}

/** Reads a field of the caller; empty if the caller has none. */
export type PrincipalReader = (principal: Principal) => string;

/** The fields that `{principal.…}` may name: those that are not lists. */
const READERS: ReadonlyMap<string, PrincipalReader> = new Map([
  ["subject_id", ({ subjectId }: Principal) => subjectId],
  ["username", ({ username }: Principal) => username],
  ["name", ({ name }: Principal) => name],
  ["email", ({ email }: Principal) => email],
  ["organization_id", ({ organizationId }: Principal) => organizationId],
  ["source", ({ source }: Principal) => source],
]);

/** Makes the reader of a field. @throws Error that says why it can never be read */
function principalField(name: string): PrincipalReader {
  const reader = READERS.get(name);
  if (reader !== undefined) return reader;
  throw new Error(
    `{principal.${name}} is not a field of the principal that a placeholder can name; known fields are ${[...READERS.keys()].join(", ")}`,
  );
}
