/**
 * How long anything may take to come true, in milliseconds, and what then fails. It is a bound on
 * waiting for what never comes, no measure: a machine ten times slower than ours is far below it.
 */
export const PATIENCE = 150_000;
