import type { CallOptions, CheckAnyRequest, CheckResult } from "../engine.ts";
import { type FoundResource, findResources } from "./find-resources.ts";
import { revisionOf } from "./revision.ts";
import { readFresh, type Session } from "./session.ts";

/** Decides whether a subject holds a permission on at least one resource of a type. */
export async function checkAny(
  session: Session,
  request: CheckAnyRequest,
  options: CallOptions = {},
): Promise<CheckResult> {
  session.validator.checkAny(request);
  const { messages, zedToken } = await readFresh<FoundResource>(
    session,
    options,
    ({ readAt }) => readAt,
    (consistency) => findResources(session, request, consistency, options.signal, true),
  );
  return { allowed: messages.length > 0, revision: revisionOf(zedToken) };
}
