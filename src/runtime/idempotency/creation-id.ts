import { randomUUID } from "node:crypto";
import type { CallContext } from "../call/call-context.ts";

const ids = new WeakMap<object, string>();

/** Gives a call the id of what it creates. */
export function setCreationId(call: object, id: string): void {
  ids.set(call, id);
}

/**
 * A random UUID for what a call creates. It is the same in all calls with the same `Idempotency-Key`, so
 * that a call that is repeated after its process has ended finds what the first one has created.
 *
 * @example
 * ```ts
 * const create: UnaryHandler<{ name: string }, { id: string }> = async ({ name }, context) => {
 *   const id = creationId(context);
 *   await database.kysely
 *     .insertInto("topics")
 *     .values({ id, name })
 *     .onConflict((conflict) => conflict.column("id").doNothing())
 *     .execute();
 *   return { id };
 * };
 * ```
 */
export function creationId(context: CallContext): string {
  const known = ids.get(context);
  if (known !== undefined) return known;
  const id = randomUUID();
  ids.set(context, id);
  return id;
}
