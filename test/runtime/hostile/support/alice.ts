import type { Field } from "./raw-http.ts";

/** Alice, as the gateway says it. */
export const ALICE: readonly Field[] = [
  ["X-Svc-Auth-Verified", "true"],
  ["X-Svc-User-Id", "alice"],
];
