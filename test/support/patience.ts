/**
 * The time limit, in milliseconds, for a condition to become true. It only limits waiting for something
 * that never happens: a machine ten times slower than ours stays far below it.
 */
export const PATIENCE = 150_000;
