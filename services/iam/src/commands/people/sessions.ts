import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  IAMSessionService,
  type Session,
  SessionKind,
  SessionSchema,
} from "../../../gen/svc/iam/v1/sessions_pb.ts";
import { IAMSessionServiceRoutes } from "../../../gen/svc/iam/v1/sessions_server.ts";
import { connect } from "../connection/connection.ts";
import { idOf } from "../connection/names.ts";
import { CommandError } from "../run/command-error.ts";
import type { CallFlags } from "../run/flags.ts";
import { printJson } from "../run/print.ts";
import { printList, type Shown } from "../run/print-messages.ts";
import { advising } from "../run/refusal.ts";
import { EXIT, say } from "../run/run-command.ts";
import { timeText } from "../run/times.ts";

const KINDS: Readonly<Record<SessionKind, string>> = {
  [SessionKind.UNSPECIFIED]: "",
  [SessionKind.BROWSER]: "browser",
  [SessionKind.DEVICE]: "device",
};

const SESSIONS: Shown<typeof SessionSchema> = {
  schema: SessionSchema,
  name: ["session", "sessions"],
  columns: [
    ["ID", ({ id }) => id],
    ["KIND", ({ kind, current }) => `${KINDS[kind] ?? ""}${current ? " (this one)" : ""}`],
    ["LAST USE", ({ lastUseTime }) => timeText(lastUseTime)],
    ["END", (session) => timeText(endOf(session))],
    ["ADDRESS", ({ address }) => address],
    ["CLIENTS", ({ clients }: Session) => clients.map(({ name }) => name).join(", ")],
  ],
};

/** When a session ends if it is not used any more. */
function endOf({ idleExpireTime: idle, absoluteExpireTime: last }: Session): Timestamp | undefined {
  if (idle === undefined || last === undefined) return idle ?? last;
  return timestampMs(idle) < timestampMs(last) ? idle : last;
}

/** Whose sessions. */
export interface SessionFlags extends CallFlags {
  readonly user?: string;
  /** The configuration whose store the operator works on. */
  readonly offline?: string;
}

/** Lists sessions. @returns the exit code */
export async function listSessions({ user, offline, format }: SessionFlags): Promise<number> {
  refuseOwnSessions(user, offline);
  await using connection = await connect();
  const service = connection.client(IAMSessionService, IAMSessionServiceRoutes);
  const { sessions } =
    user === undefined
      ? await service.listMySessions({})
      : await service.listUserSessions({ userId: await idOf(connection, "user", user) });
  await printList(SESSIONS, { items: sessions, hasMore: false }, format);
  return EXIT.done;
}

/** The flags of `svc-iam session end`. */
export interface EndFlags extends SessionFlags {
  readonly others?: boolean;
  readonly all?: boolean;
}

/** Ends sessions. @returns the exit code */
export async function endSessions(
  sessionId: string | undefined,
  { user, offline, others = false, all = false, format }: EndFlags,
): Promise<number> {
  const named = [sessionId !== undefined, others, all].filter((one) => one).length;
  if (named !== 1) throw new CommandError("name the id of one session, --others or --all");
  if (others && user !== undefined) {
    throw new CommandError("--others is for your own sessions: write --user <user> --all");
  }
  if (all && user === undefined) {
    throw new CommandError("--all needs --user: write --others to keep the session of this login");
  }
  refuseOwnSessions(user, offline);
  await using connection = await connect();
  const service = connection.client(IAMSessionService, IAMSessionServiceRoutes);
  const userId = user === undefined ? undefined : await idOf(connection, "user", user);
  let ended = 1;
  if (others) ended = (await service.endMyOtherSessions({})).endedCount;
  else if (userId !== undefined && all) {
    ended = (await service.endUserSessions({ userId })).endedCount;
  } else {
    const one = { sessionId: sessionId ?? "" };
    const call =
      userId === undefined ? service.endMySession(one) : service.endUserSession({ ...one, userId });
    const list =
      userId === undefined ? "svc-iam session list" : `svc-iam session list --user ${user}`;
    await advising<unknown>(call, "RESOURCE_NOT_FOUND", `${list} shows them`);
  }
  if (format === "json") await printJson({ ended });
  else say(`${ended} session${ended === 1 ? "" : "s"} ended`);
  return EXIT.done;
}

function refuseOwnSessions(user: string | undefined, offline: string | undefined): void {
  if (user !== undefined || offline === undefined) return;
  throw new CommandError("an operator has no sessions: name whose with --user <user>");
}
