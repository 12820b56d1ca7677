import { type RawHandler, ServiceError } from "svc-access/runtime";
import type { PageDesign } from "./page-design.ts";
import { ICON_PATH } from "./page-icon.ts";

/** The path below which the pages are that need no identity provider of this service. */
const PAGES_PATH = "/v1/iam/ui";

/**
 * The handlers of the icon, and of all paths beside the pages that have none: a browser gets a page there, too.
 *
 * @param others further paths whose pages this service does not have
 */
export function pageHandlers({ icon }: PageDesign, others: readonly string[]): RawHandler[] {
  return [PAGES_PATH, ...others].map((path) => ({
    path,
    handle(request) {
      if (request.path === ICON_PATH) return icon.response(request);
      throw new ServiceError("RESOURCE_NOT_FOUND", "there is no such page");
    },
  }));
}
