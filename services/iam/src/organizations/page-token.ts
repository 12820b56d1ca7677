import { PageTokens } from "../rpc/page-tokens.ts";
import { organizationIdProblem } from "./organization-id.ts";

/** The page tokens of lists of organizations, by their ids. */
export const ORGANIZATION_PAGES = new PageTokens(
  "organizations",
  (id) => organizationIdProblem(id) === undefined,
);
