import { ServiceError } from "svc-access/runtime";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/**
 * How many items a page has: what a request asks for, or 50.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
export function pageSizeOf({ pageSize }: { readonly pageSize: number }): number {
  if (pageSize < 0 || pageSize > MAX_PAGE_SIZE) {
    throw new ServiceError("INVALID_ARGUMENT", `page_size must be 0 to ${MAX_PAGE_SIZE}`);
  }
  return pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
}
