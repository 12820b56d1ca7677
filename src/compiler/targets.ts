/** What can be generated. */
export const TARGETS = ["routes", "policies", "server", "gateway"] as const;

/** One kind of output. */
export type Target = (typeof TARGETS)[number];
