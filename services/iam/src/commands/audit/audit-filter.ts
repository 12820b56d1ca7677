import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AuditEventFilterSchema } from "../../../gen/svc/iam/v1/audit_pb.ts";
import type { Connection } from "../connection/connection.ts";
import { namedObject } from "../connection/names.ts";
import { flagObjectOf } from "../connection/references.ts";
import { CommandError } from "../run/command-error.ts";
import { timeOf } from "../run/times.ts";
import { assertEventType } from "./event-types.ts";

/** The flags that select events. */
export interface FilterFlags {
  readonly from?: string;
  readonly to?: string;
  readonly event?: string;
  readonly rpc?: string;
  readonly principal?: string;
  readonly resource?: string;
  readonly decision?: string;
  readonly riskLevel?: string;
  readonly state?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

type Filter = MessageInitShape<typeof AuditEventFilterSchema>;

/** A filter whose names are not looked up yet. */
export interface ReadFilter {
  readonly filter: Filter;
  readonly principal: { readonly type: string; readonly id: string } | undefined;
  readonly resource: { readonly type: string; readonly id: string } | undefined;
}

/** The texts that no event has empty: an unset variable of a shell would select everything. */
const TEXTS = ["event", "rpc", "code", "requestId", "traceId"] as const;

/** Reads the flags. @throws CommandError that names the wrong one */
export function readFilter(flags: FilterFlags): ReadFilter {
  const { from, to, event = "", rpc = "", decision = "", riskLevel = "", state = "" } = flags;
  const { code = "", requestId = "", traceId = "", principal, resource } = flags;
  const empty = TEXTS.find((name) => flags[name] === "");
  if (empty !== undefined) {
    const flag = empty.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new CommandError(`--${flag} is empty: write a value, or leave the flag out`);
  }
  if (event !== "") assertEventType(event);
  if (rpc !== "" && !rpc.includes("/")) {
    throw new CommandError(
      `--rpc ${JSON.stringify(rpc)} is not the full name of an RPC: write package.Service/Method, as in the events`,
    );
  }
  return {
    filter: {
      ...(from === undefined ? {} : { startTime: timeOf("--from", from, -1) }),
      ...(to === undefined ? {} : { endTime: timeOf("--to", to, -1) }),
      ...{ type: event, rpc, decision, riskLevel, state, code, requestId, traceId },
    },
    principal: principal === undefined ? undefined : flagObjectOf("--principal", principal),
    resource: resource === undefined ? undefined : flagObjectOf("--resource", resource),
  };
}

/** The events of what is deleted are searched for, and the directory has its name no longer. */
function deletedHint(type: string): string {
  return `; a deleted one is named by its id, which svc-iam audit query --event iam.${type}.delete shows`;
}

/** The filter with the ids that its names stand for. */
export async function namedFilter(connection: Connection, read: ReadFilter): Promise<Filter> {
  const { principal: caller, resource: object } = read;
  const principal = caller && (await namedObject(connection, caller, deletedHint(caller.type)));
  const resource = object && (await namedObject(connection, object, deletedHint(object.type)));
  return {
    ...read.filter,
    ...(principal && { principalType: principal.type, principalId: principal.id }),
    ...(resource && { resource: `${resource.type}:${resource.id}` }),
  };
}
