import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { type AuditEvent, type AuditLog, type CallContext, ServiceError } from "svc-access/runtime";
import type {
  ExportAuditEventsResponseSchema,
  FollowAuditEventsResponseSchema,
} from "../../../gen/svc/iam/v1/audit_pb.ts";
import type { IAMAuditServiceHandlers } from "../../../gen/svc/iam/v1/audit_server.ts";
import { assertOwnOrganization } from "../own-organization.ts";
import { filterOf, pageTokenRefused } from "./event-filter.ts";
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
      const selected = filterOf(filter);
      const page = {
        pageSize: pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize,
        ...(pageToken === "" ? {} : { cursor: pageToken }),
      };
      const { events, nextCursor } = await log.list(selected, page).catch((error: unknown) => {
        const isRefused = error instanceof ServiceError && error.code === "INVALID_ARGUMENT";
        throw isRefused && pageToken !== "" ? pageTokenRefused(error) : error;
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

/** An event has nothing but JSON. */
function objectOf(event: AuditEvent): JsonObject {
  return event as unknown as JsonObject;
}
