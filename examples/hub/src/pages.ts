import { ServiceError } from "svc-access/runtime";

/** A page of a listing, as the requests of AIP-158 ask for it. */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** How many items a page has. */
export interface PageBounds {
  readonly otherwise: number;
  readonly most: number;
}

/** The size of the page that a request asks for. */
export function pageSizeOf({ pageSize }: PageRequest, { otherwise, most }: PageBounds): number {
  if (pageSize < 0 || pageSize > most) {
    throw new ServiceError("INVALID_ARGUMENT", `page_size is from 1 to ${most}`);
  }
  return pageSize === 0 ? otherwise : pageSize;
}

/**
 * Cuts a page out of a listing. Its token is the id of the last item, so that an item that is added
 * or deleted in the meantime does not shift the others.
 *
 * @param list the items after an id, in the order of their ids, at most so many
 */
export function page<Item>(
  request: PageRequest,
  bounds: PageBounds,
  list: (after: string, limit: number) => Iterable<readonly [id: string, item: Item]>,
): { readonly items: Item[]; readonly nextPageToken: string } {
  const size = pageSizeOf(request, bounds);
  const after = Buffer.from(request.pageToken, "base64url").toString();
  if (Buffer.from(after).toString("base64url") !== request.pageToken) {
    throw new ServiceError("INVALID_ARGUMENT", "page_token is not one that this service gave");
  }
  const listed = [...list(after, size + 1)];
  const shown = listed.slice(0, size);
  const last = listed.length > size ? (shown.at(-1)?.[0] ?? "") : "";
  return {
    items: shown.map(([, item]) => item),
    nextPageToken: Buffer.from(last).toString("base64url"),
  };
}
