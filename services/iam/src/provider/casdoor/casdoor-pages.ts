import * as z from "zod";
import type { CasdoorApi } from "./casdoor-api.ts";
import { CasdoorResponseError } from "./casdoor-envelope.ts";

/** A page of records. */
export interface CasdoorPage<Item> {
  readonly items: readonly Item[];
  /** How many records there are on all pages. */
  readonly total: number;
}

/** Few enough for the size of a response, many enough for few requests. */
export const PAGE_SIZE = 100;

/** What pages are read. */
export interface PageRequest<Item> {
  readonly operation: "get-users" | "get-groups";
  readonly owner: string;
  /** Counted from 0. */
  readonly page: number;
  readonly schema: z.ZodType<Item>;
  /** Two records with one id are refused. */
  readonly idOf: (item: Item) => string;
}

/**
 * Reads a page of records, by name.
 *
 * @throws ServiceError UNAVAILABLE where Casdoor does not answer, or answers what is not that page
 */
export async function readPage<Item>(
  api: CasdoorApi,
  { operation, owner, page, schema, idOf }: PageRequest<Item>,
  signal: AbortSignal,
): Promise<CasdoorPage<Item>> {
  const query = {
    owner,
    p: String(page + 1),
    pageSize: String(PAGE_SIZE),
    sortField: "name",
    sortOrder: "ascend",
  };
  return api.read(operation, query, z.array(schema).max(PAGE_SIZE), signal, ({ data, total }) => {
    if (total === undefined) throw new CasdoorResponseError("data2 is not a number", false);
    const left = total - page * PAGE_SIZE;
    // After the last page, Casdoor repeats it.
    const items = left <= 0 ? [] : data;
    // Otherwise a list would end too early; a record may have been added between count and list.
    if (items.length !== Math.min(Math.max(left, 0), PAGE_SIZE)) {
      throw new CasdoorResponseError(`a page has ${items.length} of ${left} records`, true);
    }
    if (new Set(items.map(idOf)).size !== items.length) {
      throw new CasdoorResponseError("two records have one id", false);
    }
    return { items, total };
  });
}
