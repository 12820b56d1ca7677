import { ServiceError } from "svc-access/runtime";

/** A page of a listing, as the requests of AIP-158 ask for it. */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

/**
 * Cuts a page out of a listing.
 *
 * @param list the items behind a key, at most so many
 * @param keyOf the key that the listing is sorted by
 */
export function page<Item>(
  { pageSize, pageToken }: PageRequest,
  bounds: { readonly otherwise: number; readonly most: number },
  list: (after: string, limit: number) => readonly Item[],
  keyOf: (item: Item) => string,
): { readonly items: readonly Item[]; readonly nextPageToken: string } {
  if (pageSize < 0 || pageSize > bounds.most) {
    throw new ServiceError("INVALID_ARGUMENT", `page_size is from 1 to ${bounds.most}`);
  }
  const size = pageSize === 0 ? bounds.otherwise : pageSize;
  const after = Buffer.from(pageToken, "base64url").toString();
  if (Buffer.from(after).toString("base64url") !== pageToken) {
    throw new ServiceError("INVALID_ARGUMENT", "page_token is not one that this service gave");
  }
  const items = list(after, size + 1);
  const shown = items.slice(0, size);
  const last = shown.at(-1);
  const isMore = items.length > size && last !== undefined;
  return {
    items: shown,
    nextPageToken: isMore ? Buffer.from(keyOf(last)).toString("base64url") : "",
  };
}
