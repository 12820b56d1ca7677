import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type AuditEvent,
  type AuditFilter,
  type AuditLog,
  type CallContext,
  ServiceError,
} from "svc-access/runtime";
import type {
  AuditEventFilter,
  ExportAuditEventsResponseSchema,
  FollowAuditEventsResponseSchema,
} from "../../../gen/svc/iam/v1/audit_pb.ts";
import type { IAMAuditServiceHandlers } from "../../../gen/svc/iam/v1/audit_server.ts";
import { assertOwnOrganization } from "../own-organization.ts";
import type { StandingReaders } from "./standing-readers.ts";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 500;

/**
 * The handlers of IAMAuditService.
 *
 * @param organization `iam.organization`: whose administrators see the events
 * @param readers refuses and ends the streams of callers who may not read them any more
 * @param stopping aborts when the server begins to stop, which would wait for followers
 */
export function auditHandlers(
  log: Pick<AuditLog, "list" | "export" | "follow" | "position">,
  organization: string,
  { readers, stopping }: { readonly readers: StandingReaders; readonly stopping: AbortSignal },
): IAMAuditServiceHandlers {
  const assertReader = async (context: CallContext) => {
    assertOwnOrganization(context, organization);
    await readers.assertHolds(context);
  };
  return {
    async listAuditEvents({ filter, pageSize, pageToken }, context) {
      await assertReader(context);
      if (pageSize < 0 || pageSize > MAX_PAGE_SIZE) {
        throw new ServiceError("INVALID_ARGUMENT", `page_size must be 0 to ${MAX_PAGE_SIZE}`);
      }
      const { events, nextCursor } = await log.list(filterOf(filter), {
        pageSize: pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize,
        ...(pageToken === "" ? {} : { cursor: pageToken }),
      });
      return { events: events.map(objectOf), nextPageToken: nextCursor ?? "" };
    },

    async *exportAuditEvents({ filter }, context) {
      await assertReader(context);
      const events = readers.whilePermitted(context, (signal) =>
        log.export(filterOf(filter), { signal }),
      );
      for await (const event of events) {
        yield { event: objectOf(event) } satisfies MessageInitShape<
          typeof ExportAuditEventsResponseSchema
        >;
      }
    },

    async *followAuditEvents({ filter, position: given, positionOfStart }, context) {
      await assertReader(context);
      let after = given;
      if (positionOfStart && after === "") {
        after = await log.position();
        yield { position: after } satisfies MessageInitShape<
          typeof FollowAuditEventsResponseSchema
        >;
      }
      const changes = readers.whilePermitted(context, (permitted) => {
        const signal = AbortSignal.any([permitted, stopping]);
        return log.follow(filterOf(filter), { signal, ...(after === "" ? {} : { after }) });
      });
      for await (const { event, position } of changes) {
        yield { event: objectOf(event), position } satisfies MessageInitShape<
          typeof FollowAuditEventsResponseSchema
        >;
      }
    },
  };
}

/** The fields of the filter that are texts; an empty one selects any value. */
const TEXTS = {
  type: "type",
  rpc: "rpc",
  principalType: "principalType",
  principalId: "principalId",
  organizationId: "organization",
  resource: "resource",
  decision: "decision",
  state: "state",
  riskLevel: "riskLevel",
  code: "code",
  requestId: "requestId",
  traceId: "traceId",
} as const satisfies Partial<Record<keyof AuditEventFilter, keyof AuditFilter>>;

/** Values that are not valid are refused by the log. */
function filterOf(filter: AuditEventFilter | undefined): AuditFilter {
  if (filter === undefined) return {};
  const fields: [keyof AuditFilter, string | number][] = [];
  for (const [field, name] of Object.entries(TEXTS)) {
    const text = filter[field as keyof typeof TEXTS];
    if (text !== "") fields.push([name, text]);
  }
  if (filter.startTime !== undefined) fields.push(["from", millisecondsOf(filter.startTime)]);
  if (filter.endTime !== undefined) fields.push(["to", millisecondsOf(filter.endTime)]);
  return Object.fromEntries(fields) as AuditFilter;
}

/** Events have whole milliseconds. */
function millisecondsOf(time: Timestamp): number {
  return Math.ceil(timestampMs(time));
}

/** An event has nothing but JSON. */
function objectOf(event: AuditEvent): JsonObject {
  return event as unknown as JsonObject;
}
