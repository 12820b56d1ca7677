import type { v1 } from "@authzed/authzed-node";
import type { CallOptions, CheckAnyRequest, CheckResult } from "../engine.ts";
import { findResources, isGranted } from "./lookups.ts";
import { revisionOf } from "./revision.ts";
import { readFresh, type Session } from "./session.ts";

/** Decides whether a subject holds a permission on at least one resource of a type. */
export async function checkAny(
  session: Session,
  request: CheckAnyRequest,
  options: CallOptions = {},
): Promise<CheckResult> {
  session.validator.checkAny(request);
  const { messages, zedToken } = await readFresh<v1.LookupResourcesResponse>(
    session,
    options,
    ({ lookedUpAt }) => lookedUpAt,
    async (consistency) => {
      const first = await findResources(session, request, consistency, options.signal, 1);
      // Behind one that a caveat makes conditional there may be others.
      const isConditional = first.some(({ permissionship }) => !isGranted(permissionship));
      return isConditional ? findResources(session, request, consistency, options.signal) : first;
    },
  );
  return {
    allowed: messages.some(({ permissionship }) => isGranted(permissionship)),
    revision: revisionOf(zedToken),
  };
}
