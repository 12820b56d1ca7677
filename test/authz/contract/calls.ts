import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import type { CallOptions, Page, WriteOperation } from "../../../src/authz/engine/requests.ts";
import { request, updates } from "./schema.ts";

/** Writes relationships with one operation. */
export function write(engine: AuthorizationEngine, operation: WriteOperation, ...texts: string[]) {
  return engine.writeRelationships({ updates: updates(operation, ...texts) });
}

/** Writes relationships, 1,000 a call. */
export async function touch(engine: AuthorizationEngine, ...texts: string[]): Promise<void> {
  for (let from = 0; from < texts.length; from += 1000) {
    await write(engine, "TOUCH", ...texts.slice(from, from + 1000));
  }
}

/** Decides `type:id#permission@subject`. */
export async function allows(
  engine: AuthorizationEngine,
  text: string,
  options?: CallOptions,
): Promise<boolean> {
  return (await engine.check(request(text), options)).allowed;
}

/** All pages of a listing; only the last may be short. */
export async function pages<Item>(
  read: (page: { cursor?: string }) => Promise<Page<Item>>,
): Promise<Item[][]> {
  const found: Item[][] = [];
  for (let cursor: string | undefined; ; ) {
    const page: Page<Item> = await read(cursor === undefined ? {} : { cursor });
    found.push([...page.items]);
    cursor = page.nextCursor;
    if (cursor === undefined) return found;
  }
}

/** The error of a call, or its result if it succeeded unexpectedly. */
export function failure(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: unknown) => error);
}
