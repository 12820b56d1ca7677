import { createHash } from "node:crypto";
import type { SeenSession } from "../../../people/sessions/login-session.ts";
import type { Payload } from "../request/request-scope.ts";

/** Who is at the other end of the request under way. */
export interface Requester {
  readonly address: string;
  readonly userAgent: string;
}

/** What `oidc-provider` keeps of a client in a session. */
interface Authorization {
  readonly sid?: string;
  readonly grantId?: string;
}

/** When a login ends, in milliseconds since the epoch. */
export interface LoginEnd {
  /** If it is not used. */
  readonly expireTime: number;
  /** However much it is used, where its begin is known. */
  readonly endTime: number | undefined;
}

/**
 * The login that a document is about: a session of a browser that somebody is logged in with, or the
 * first refresh token of a device.
 */
export function seenSession(
  model: string,
  payload: Payload,
  end: LoginEnd,
  requester: Requester,
): SeenSession | undefined {
  const { accountId } = payload;
  if (typeof accountId !== "string") return undefined;
  if (model === "Session") {
    const authorizations = Object.entries((payload["authorizations"] ?? {}) as object);
    const clients = authorizations.flatMap(
      ([clientId, { sid, grantId = "" }]: [string, Authorization]) =>
        sid === undefined ? [] : [{ clientId, sid, grantId }],
    );
    const id = String(payload["uid"]);
    return { id, kind: "browser", accountId, clients, ...end, ...requester };
  }
  const { sid, clientId, grantId } = payload;
  if (model !== "RefreshToken" || payload["expiresWithSession"] === true) return undefined;
  if (typeof sid !== "string") return undefined;
  const client = { clientId: String(clientId), sid, grantId: String(grantId) };
  return { id: sid, kind: "device", accountId, clients: [client], ...end, ...requester };
}

/** Whether somebody has begun to approve the device of a code, or has refused it. */
export function isDecidedOn({ inFlight, accountId, error }: Payload): boolean {
  return inFlight !== undefined || accountId !== undefined || error !== undefined;
}

/** Whether somebody has refused the device of a code. */
export function isRefused({ error }: Payload): boolean {
  return error === "access_denied";
}

/**
 * Whether the service has failed while somebody decided on the device of a code. `oidc-provider` would store that as the
 * decision, and neither the person could try again nor the device wait for it.
 */
export function isFailedDecision(model: string, { error }: Payload): boolean {
  return model === "DeviceCode" && error === "server_error";
}

/** The login that approves a device, which a document is about. */
export function approvalOf(
  model: string,
  { accountId, sessionUid, error }: Payload,
): { readonly accountId: string; readonly sessionUid: string } | undefined {
  if (model !== "DeviceCode" || error !== undefined) return undefined;
  if (typeof accountId !== "string" || typeof sessionUid !== "string") return undefined;
  return { accountId, sessionUid };
}

/** When a session, or the tokens of a device, began: in seconds since the epoch. */
export function loginBegin({ loginTs, iiat }: Payload): number | undefined {
  return [loginTs, iiat].find((time) => typeof time === "number");
}

/**
 * The device code with a `sid` of its own in place of that of the browser that approved it: the
 * device stays logged in when the browser logs out.
 */
export function withOwnSid(payload: Payload): Payload {
  if (typeof payload["sid"] !== "string") return payload;
  const sid = createHash("sha256").update(`device sid\0${payload["jti"]}`).digest("base64url");
  return { ...payload, sid };
}
