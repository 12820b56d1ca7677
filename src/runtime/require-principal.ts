import type { CallContext } from "./call-context.ts";
import { missingPrincipal } from "./error/service-error.ts";
import type { Principal } from "./principal.ts";

/**
 * The caller, for handlers that need one.
 *
 * @throws ServiceError UNAUTHORIZED `missing principal` (spec 7, rule 2) where nobody was identified
 */
export function requirePrincipal({ principal }: Pick<CallContext, "principal">): Principal {
  if (principal === undefined) throw missingPrincipal();
  return principal;
}
