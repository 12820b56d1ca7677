import { createHash } from "node:crypto";
import { ServiceError } from "svc-access/runtime";

const VERSION = "relationships.1";
const LONGEST = 8192;

/** Where a page begins: after something that the caller has seen. */
export interface ListPosition {
  /** The resource of the last relationship, or the last one that has been read. */
  readonly resourceId: string;
  /** The last relationship of the resource; absent if all of them were listed. */
  readonly after?: string;
  /** Where the engine continues among the relationships of the resource. */
  readonly cursor?: string;
}

/** The token of a page of one list; it contains nothing that the caller has not seen. */
export function writeListToken(list: readonly string[], position: ListPosition): string {
  const { resourceId, after = "", cursor = "" } = position;
  return encode([VERSION, digest(list), resourceId, after, cursor]);
}

/**
 * Where a page begins; undefined for the first.
 *
 * @throws ServiceError INVALID_ARGUMENT where the token is not one of this list
 */
export function readListToken(list: readonly string[], token: string): ListPosition | undefined {
  if (token === "") return undefined;
  const parts = decode(token);
  const [version, of, resourceId = "", after = "", cursor = ""] = parts;
  const isOurs = parts.length === 5 && version === VERSION && encode(parts) === token;
  if (!isOurs || of !== digest(list)) {
    throw new ServiceError("INVALID_ARGUMENT", "page_token is not one that this list returned");
  }
  return {
    resourceId,
    ...(after === "" ? {} : { after }),
    ...(cursor === "" ? {} : { cursor }),
  };
}

function digest(list: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(list)).digest("base64url").slice(0, 22);
}

function encode(parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

function decode(token: string): readonly string[] {
  if (token.length > LONGEST) return [];
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    const isList = Array.isArray(parts) && parts.every((part) => typeof part === "string");
    return isList ? parts : [];
  } catch {
    return [];
  }
}
