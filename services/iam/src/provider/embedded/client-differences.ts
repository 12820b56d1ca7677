import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ClientDeclaration } from "./client-declaration.ts";

/** A client that declarations change. */
export interface ClientDifference {
  readonly id: string;
  /** The name that people see; of one that is removed, the former one. Empty if it is not known. */
  readonly name: string;
  readonly change: "added" | "changed" | "removed";
  /** What differs, of one that is changed; empty if it is not known. */
  readonly fields: readonly (keyof ClientDeclaration)[];
}

/**
 * Compares clients as they are stored with those that are wanted.
 *
 * @param stored by their ids; a text is the digest of a declaration, or empty for one that cannot be read
 */
export function differencesOf(
  stored: ReadonlyMap<string, ClientDeclaration | string>,
  wanted: readonly ClientDeclaration[],
): readonly ClientDifference[] {
  const left = new Set(stored.keys());
  const found: ClientDifference[] = [];
  for (const client of wanted) {
    const { id, name } = client;
    const before = stored.get(id);
    left.delete(id);
    if (before === undefined) found.push({ id, name, change: "added", fields: [] });
    else if (typeof before === "string") {
      if (before !== digestOf(client)) found.push({ id, name, change: "changed", fields: [] });
    } else {
      const fields = changedFields(before, client);
      if (fields.length > 0) found.push({ id, name, change: "changed", fields });
    }
  }
  for (const id of left) {
    const before = stored.get(id);
    const name = typeof before === "object" ? before.name : "";
    found.push({ id, name, change: "removed", fields: [] });
  }
  return found;
}

function changedFields(
  before: ClientDeclaration,
  after: ClientDeclaration,
): (keyof ClientDeclaration)[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return ([...names] as (keyof ClientDeclaration)[]).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
}

/** How earlier versions stored a client. */
function digestOf(client: ClientDeclaration): string {
  return createHash("sha256").update(JSON.stringify(client)).digest("base64url");
}
