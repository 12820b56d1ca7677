import { requestScope } from "./request-scope.ts";

/** A session of `oidc-provider`, as far as it is changed here. */
interface Session {
  authorizations?: Record<string, object>;
}

/** Keeps what a session says of a client, since the approval of a device replaces it. */
export function keepAuthorization(session: unknown, clientId: string): void {
  const scope = requestScope.getStore();
  if (scope === undefined) return;
  const before = (session as Session | undefined)?.authorizations?.[clientId];
  scope.keptAuthorization = { clientId, before: before && { ...before } };
}

/** Restores it after the approval: what the device got does not end with the browser's session. */
export function restoreAuthorization(session: unknown): void {
  const kept = requestScope.getStore()?.keptAuthorization;
  const { authorizations } = session as Session;
  if (kept === undefined || authorizations === undefined) return;
  if (kept.before === undefined) delete authorizations[kept.clientId];
  else authorizations[kept.clientId] = kept.before;
}
