import * as z from "zod/mini";
import { documented } from "../../config/config-values.ts";
import { authn } from "./authn-config.ts";
import { authz } from "./authz-config.ts";

/** The schema of `security` (spec 5.6). */
export const security = z.strictObject({
  authn: documented("Authentication.", z.prefault(authn, {})),
  authz: documented("Authorization.", z.prefault(authz, {})),
});

/** The part `security` of a service's configuration. */
export type SecurityConfig = z.infer<typeof security>;
