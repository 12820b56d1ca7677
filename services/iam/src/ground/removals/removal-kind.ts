import type { Transaction } from "svc-access/database";
import type { RemovalKind as KindOf } from "svc-access/runtime";
import type { IamTables } from "../store/tables.ts";

/** A transaction over the tables of the service. */
export type RemovalTransaction = Transaction<IamTables>;

/** A kind of records of the service that are deleted together with their relationships. */
export type RemovalKind = KindOf<IamTables>;
