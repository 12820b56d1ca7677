import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Principal } from "svc-access/runtime";
import { SessionKind, type SessionSchema } from "../../../gen/svc/iam/v1/sessions_pb.ts";
import type { LoginSession } from "../../people/sessions/login-session.ts";

const KINDS = { browser: SessionKind.BROWSER, device: SessionKind.DEVICE } as const;

/** Whether a call was made with a token of a session. */
export function isSessionOf({ clients }: LoginSession, { sessionId }: Principal): boolean {
  return sessionId !== undefined && clients.some(({ sid }) => sid === sessionId);
}

/** A session as callers see it. */
export function sessionMessage(
  session: LoginSession,
  caller: Principal,
  clientName: (clientId: string) => string,
): MessageInitShape<typeof SessionSchema> {
  const { id, kind, clients, address, userAgent, createTime, seenTime, expireTime } = session;
  const { endTime } = session;
  return {
    id,
    kind: KINDS[kind],
    clients: clients.map(({ clientId }) => ({ clientId, name: clientName(clientId) })),
    createTime: timestampFromMs(createTime),
    lastUseTime: timestampFromMs(seenTime),
    idleExpireTime: timestampFromMs(expireTime),
    ...(endTime === undefined ? {} : { absoluteExpireTime: timestampFromMs(endTime) }),
    address,
    userAgent,
    current: isSessionOf(session, caller),
  };
}
