import type { Model } from "../../model/schema/model.ts";
import { memberKey } from "../../model/schema/model.ts";

/** Which permissions of a model were asked for. */
export interface Coverage {
  /** The file of the model. */
  readonly model: string;
  readonly permissions: number;
  readonly covered: number;
  /** From 0 to 100, never rounded up; 100 for a model without permissions. */
  readonly percent: number;
  /** The permissions that were not asked for, as `type#permission`, in the order of the model. */
  readonly missing: readonly string[];
}

/** How much of a model's permissions is in a set of `type#permission`. */
export function coverageOf(file: string, model: Model, exercised: ReadonlySet<string>): Coverage {
  const all = [...model.definitions.values()].flatMap(({ name, permissions }) =>
    [...permissions.keys()].map((permission) => memberKey(name, permission)),
  );
  const missing = all.filter((key) => !exercised.has(key));
  const covered = all.length - missing.length;
  const percent = all.length === 0 ? 100 : Math.floor((covered * 1000) / all.length) / 10;
  return { model: file, permissions: all.length, covered, percent, missing };
}
