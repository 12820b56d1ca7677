import type { ServiceDatabase } from "svc-access/database";
import { type CallContext, ServiceError } from "svc-access/runtime";
import { isStorable } from "../../ground/store/storable-text.ts";
import type { IamTables } from "../../ground/store/tables.ts";

/**
 * Refuses callers who are disabled or deleted and whom a gateway names. The tokens of others are
 * revoked with their sessions; a gateway verifies tokens itself, and accepts one until it expires.
 *
 * @param organization `iam.organization`: whose users they are
 */
export function refuseBarredCallers(
  database: ServiceDatabase<IamTables>,
  organization: string,
): (call: Pick<CallContext, "principal">) => void | Promise<void> {
  const stateIn = (table: "iam_users" | "iam_service_accounts") =>
    database.prepareRead((kysely, values: { readonly id: string }) =>
      kysely.selectFrom(table).select(["disabled", "deleted_time"]).where("id", "=", values.id),
    );
  const states: Readonly<Record<string, ReturnType<typeof stateIn>>> = {
    user: stateIn("iam_users"),
    service_account: stateIn("iam_service_accounts"),
  };
  const former = database.prepareRead(
    (kysely, values: { readonly type: string; readonly id: string }) =>
      kysely
        .selectFrom("iam_former_ids")
        .select("deleted_time")
        .where("type", "=", values.type)
        .where("id", "=", values.id),
  );
  const isBarred = async (type: string, id: string) => {
    const row = await states[type]?.first({ id });
    if (row === undefined) return (await former.first({ type, id })) !== undefined;
    return Number(row.disabled) !== 0 || row.deleted_time !== null;
  };
  const refuseIfBarred = async (type: string, id: string) => {
    if (await isBarred(type, id)) {
      throw new ServiceError("UNAUTHORIZED", "the caller is disabled or deleted");
    }
  };
  return ({ principal }) => {
    if (principal?.source !== "gateway" || !Object.hasOwn(states, principal.subjectType)) return;
    const { organizationId, subjectType, subjectId } = principal;
    // Another issuer may have a user of the same id. Not every gateway names the organization.
    if (organizationId !== "" && organizationId !== organization) return;
    return isStorable(subjectId) ? refuseIfBarred(subjectType, subjectId) : undefined;
  };
}
