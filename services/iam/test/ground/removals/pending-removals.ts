import type { ServiceDatabase } from "svc-access/database";

/** The table of the runtime in which removals are recorded, as far as tests read and change it. */
export interface PendingRemovalsTable {
  readonly pending_removals: {
    readonly id: string;
    readonly due_time: number;
    readonly empty_time: number | null;
  };
}

/** The removals in the database of a service. */
export function removalsIn(database: Pick<ServiceDatabase<unknown>, "as">) {
  return database.as<PendingRemovalsTable>().kysely;
}
