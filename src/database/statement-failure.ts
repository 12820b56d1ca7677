import type { DatabaseKind } from "./database.ts";

/** Why a statement failed, where a program goes on in another way. */
export type StatementFailure =
  /** A row with the same key exists. */
  | "uniqueViolation"
  | "tableMissing"
  | "columnMissing"
  /** The user of the connection lacks the right. */
  | "rightMissing"
  /** Another transaction changed the same rows, or waits for them: another attempt can succeed. */
  | "conflict";

/** What drivers throw. */
interface Thrown {
  readonly code?: unknown;
  readonly errcode?: unknown;
  readonly message?: unknown;
}

type Test = (thrown: Thrown) => boolean;

const never: Test = () => false;

/** The codes of SQLite for a unique index, a primary key, and a row id. */
const UNIQUE: ReadonlySet<unknown> = new Set([2067, 1555, 2579]);

const says =
  (start: string): Test =>
  ({ code, message }) =>
    code === "ERR_SQLITE_ERROR" && String(message).startsWith(start);

const has =
  (...codes: readonly string[]): Test =>
  ({ code }) =>
    codes.some((each) => each === code);

/** How the errors of each kind of database are distinguished. */
const TESTS: Readonly<Record<DatabaseKind, Readonly<Record<StatementFailure, Test>>>> = {
  sqlite: {
    uniqueViolation: ({ code, errcode }) => code === "ERR_SQLITE_ERROR" && UNIQUE.has(errcode),
    tableMissing: says("no such table"),
    columnMissing: says("no such column"),
    // It has no users, and each transaction is alone.
    rightMissing: never,
    conflict: never,
  },
  postgres: {
    uniqueViolation: has("23505"),
    tableMissing: has("42P01"),
    columnMissing: has("42703"),
    rightMissing: has("42501"),
    conflict: has("40001", "40P01"),
  },
};

const ALL = Object.values(TESTS);

/** Whether a statement failed for this reason, in a database of any kind. */
export function isFailure(failure: StatementFailure, error: unknown): boolean {
  const thrown = (error ?? {}) as Thrown;
  return ALL.some((tests) => tests[failure](thrown));
}
