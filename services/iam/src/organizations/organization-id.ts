import { ORGANIZATION_ID } from "../config/iam-config.ts";
import { PageTokens } from "../rpc/page-tokens.ts";

/** Why a text cannot be the id of an organization, for people; undefined where it can. */
export function organizationIdProblem(id: string): string | undefined {
  if (id === "") return "is required";
  return ORGANIZATION_ID.test(id)
    ? undefined
    : "must be 1 to 64 letters, digits, '.', '_' and '-', and begin with a letter or digit";
}

/** The page tokens of lists of organizations, by their ids. */
export const ORGANIZATION_PAGES = new PageTokens(
  "organizations",
  (id) => organizationIdProblem(id) === undefined,
);
