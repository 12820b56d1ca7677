/** The member id of a subject without a relation. */
export const NO_MEMBER = 0;

/** The slot of a member that no relationship can name. */
export const NO_SLOT = -1;

/** Where the pairs of an object are, by its type. */
export interface PairLayout {
  /**
   * By member: the offset of its pair from the object. In a wide type it is `-2` minus the position
   * in the object's directory.
   */
  readonly slots: Int32Array;
  /** By type: how many pairs an object gets at first, including its own as a subject. */
  readonly blocks: Int32Array;
  /** By type: the length of an object's directory; 0 where all pairs are in the block. */
  readonly directories: Int32Array;
}

/** Types with more members than this find their pairs through a directory. */
const MOST_SLOTS = 6;

/** The members of types, as known before the layout of pairs; see `Program`. */
interface NamedMembers {
  readonly members: readonly { readonly isRelation: boolean }[];
  readonly memberIds: readonly ReadonlyMap<string, number>[];
  readonly subjectMembers: readonly (readonly number[])[];
}

/**
 * Lays out pairs. An object of a narrow type has a pair for each member that a relationship may
 * name, side by side, so that finding one needs no search. In a wide type most would stay empty, at
 * 50 bytes each; there a pair costs four bytes in a directory until a relationship names it.
 */
export function layoutPairs({ members, memberIds, subjectMembers }: NamedMembers): PairLayout {
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
