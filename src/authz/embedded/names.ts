import type { Member } from "./program.ts";

/** The names of a model as integers. */
export interface Names {
  readonly typeIds: ReadonlyMap<string, number>;
  readonly members: readonly Member[];
  readonly memberIds: readonly ReadonlyMap<string, number>[];
}
