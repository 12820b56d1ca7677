import { ifKnown } from "../run/if-known.ts";
import { problemOf, say } from "../run/run-command.ts";
import type { Connection } from "./connection.ts";
import { KINDS, NOT_LISTED } from "./names.ts";

/** The most objects of a type whose names are shown. */
const MOST = 2000;

/** An object as a message has it. */
type Shown = { readonly type: string; readonly id: string } | undefined;

/**
 * What people call users, groups and service accounts of a list, as far as the caller may list them. Each type is
 * listed once, not each object. Where names cannot be read, or are too many, a message says so, and the list is
 * shown without them.
 *
 * @returns the name of an object; empty if it has none, or it is not known
 */
export async function namesOf(
  connection: Connection,
  objects: readonly Shown[],
): Promise<(object: Shown) => string> {
  const types = new Set(objects.map((object) => object?.type));
  const names = new Map<string, string>();
  const nameOf = (object: Shown) => names.get(`${object?.type}:${object?.id}`) ?? "";
  await ifKnown(
    async (signal) => {
      for (const { type, find } of KINDS.filter((kind) => types.has(kind.type))) {
        const found = await find(connection, "", { most: MOST, signal }).catch(orNone);
        for (const one of found) names.set(`${type}:${one.id}`, one.names[0] ?? "");
        const isNameless = (object: Shown) => object?.type === type && nameOf(object) === "";
        if (found.length === MOST && objects.some(isNameless)) {
          say(`only the first ${MOST} ${type.replace("_", " ")}s are shown with their names`);
        }
      }
    },
    (error) => say(`some names are not shown: ${problemOf(error) ?? error.message}`),
  );
  return nameOf;
}

function orNone(error: { readonly code?: string }): [] {
  if (!NOT_LISTED.has(error.code)) throw error;
  return [];
}
