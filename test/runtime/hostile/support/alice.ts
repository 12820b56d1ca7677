import type { Field } from "./raw-http.ts";

/** The headers of the gateway for alice. */
export const ALICE: readonly Field[] = [
  ["X-Svc-Auth-Verified", "true"],
  ["X-Svc-User-Id", "alice"],
];
