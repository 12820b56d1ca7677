import { NO_MEMBER } from "./no-member.ts";
import { NO_SLOT, type PairLayout } from "./pair-layout.ts";
import type { Program } from "./program.ts";

/** Types with more members than this find their pairs by a directory. */
const MOST_SLOTS = 6;

/**
 * Lays out pairs. An object of a narrow type has a pair for whatever a
 * relationship may name, side by side, so that they are found without a search.
 * In a wide one most would stay empty, at 50 bytes each; there a pair costs
 * four bytes in a directory until it is named.
 */
export function layoutPairs({
  members,
  memberIds,
  subjectMembers,
}: Pick<Program, "members" | "memberIds" | "subjectMembers">): PairLayout {
  const slots = new Int32Array(members.length).fill(NO_SLOT);
  const blocks = new Int32Array(memberIds.length).fill(1);
  const directories = new Int32Array(memberIds.length);
  slots[NO_MEMBER] = 0;
  memberIds.forEach((ids, type) => {
    const asSubject = new Set(subjectMembers[type]);
    const named = [...ids.values()].filter(
      (id) => members[id]?.isRelation === true || asSubject.has(id),
    );
    const wide = named.length > MOST_SLOTS;
    named.forEach((id, place) => {
      slots[id] = wide ? -2 - place : 1 + place;
    });
    if (wide) directories[type] = named.length;
    else blocks[type] = 1 + named.length;
  });
  return { slots, blocks, directories };
}
