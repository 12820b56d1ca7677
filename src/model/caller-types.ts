/**
 * The types that the caller of an RPC can have (docs/requirements.md, AUTHZ-8). A model need not define all
 * of them: callers of the others hold nothing in it.
 */
export const CALLER_SUBJECT_TYPES: ReadonlySet<string> = new Set([
  "user",
  "service_account",
  "service",
]);
