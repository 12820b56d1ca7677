import type { RelationshipUpdate } from "../../src/authz/engine/requests.ts";
import { deleteOf, touchOf } from "./document-engine.ts";
import { viewer } from "./documents.ts";

/** The number of concurrent writers. */
export const CALLERS = 8;
/** In each series of this many writes of a caller, the last reverts the one before. */
const CYCLE = 5;

/** The updates of a caller's write: a pair of viewers, or the removal of the pair before. */
export function updatesOf(run: string, caller: number, number: number): RelationshipUpdate[] {
  const removes = isRemoval(number);
  const document = documentOf(run, caller, removes ? number - 1 : number);
  return ["left", "right"].map((user) => (removes ? deleteOf : touchOf)(viewer(document, user)));
}

/** Whether each document of a caller exists if writes were acknowledged up to a number; undefined if it depends on an unacknowledged write. */
export function* expectedOf(
  run: string,
  caller: number,
  acknowledged: number,
): Generator<readonly [document: string, isThere: boolean | undefined]> {
  for (let number = 0; number <= acknowledged + 1; number++) {
    if (isRemoval(number)) continue;
    const isRemoved = isRemoval(number + 1) && number + 1 <= acknowledged;
    const isOpen = number > acknowledged || (isRemoval(number + 1) && number === acknowledged);
    yield [documentOf(run, caller, number), isOpen ? undefined : !isRemoved];
  }
}

function isRemoval(number: number): boolean {
  return number % CYCLE === CYCLE - 1;
}

function documentOf(run: string, caller: number, number: number): string {
  return `r${run}-c${caller}-n${number}`;
}
