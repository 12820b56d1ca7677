import type { Listed } from "./print-messages.ts";
import { withinRate } from "./within-rate.ts";

/** The most items of a page of the API. */
const PAGE = 1000;

/** What a page is asked for. */
export interface PageOf {
  readonly pageSize: number;
  readonly pageToken: string;
}

/**
 * Reads pages until there are as many items as wanted.
 *
 * @param read reads a page; one may be empty although others follow
 */
export async function readPages<Item>(
  limit: number,
  read: (page: PageOf) => Promise<{ readonly items: readonly Item[]; readonly next: string }>,
): Promise<Listed<Item>> {
  const items: Item[] = [];
  let pageToken = "";
  do {
    const wanted = { pageSize: Math.min(PAGE, limit - items.length), pageToken };
    const page = await withinRate(() => read(wanted));
    items.push(...page.items);
    pageToken = page.next;
  } while (pageToken !== "" && items.length < limit);
  return { items: items.slice(0, limit), hasMore: pageToken !== "" || items.length > limit };
}
