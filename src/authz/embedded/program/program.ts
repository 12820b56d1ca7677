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
  /** By type: the length of an object's directory; 0 if all pairs are in the block. */
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

/** A relation or permission of a type, or `NO_MEMBER` for a bare object as a subject. */
export interface Member {
  readonly id: number;
  readonly type: number;
  readonly name: string;
  readonly isRelation: boolean;
}

/** A relation whose subjects are granted. */
export interface RelationStep {
  readonly member: number;
  /** Whether it accepts `type:*`, so that the wildcard has to be checked. */
  readonly wildcard: boolean;
  /** Whether it accepts usersets, so that they have to be followed. */
  readonly usersets: boolean;
  /** Whether all usersets that it accepts are groups, see `findGroups`. */
  readonly onlyGroups: boolean;
}

/** From a relation's objects to a member of theirs. */
export interface ArrowStep {
  readonly relation: number;
  /** Whether the relation accepts usersets beside objects. */
  readonly usersets: boolean;
  /** By type: the node of the member there, or -1 where the type has none. */
  readonly targets: Int32Array;
  /** The node if the relation accepts one type only, which saves the lookup; else -1. */
  readonly only: number;
}

/**
 * A node that grants if one of several ways does. References to permissions of the same type are
 * merged into it, so that most permissions are one reach node.
 */
export interface ReachNode {
  readonly kind: "reach";
  readonly self: boolean;
  /** The members merged into this node, including itself if it has a name. */
  readonly names: ReadonlySet<number>;
  readonly relations: readonly RelationStep[];
  readonly arrows: readonly ArrowStep[];
  /** Nodes of other kinds on the same object. */
  readonly combined: readonly number[];
}

/** A node that grants if every operand does. */
export interface AndNode {
  readonly kind: "and";
  readonly operands: readonly number[];
}

/** A node that grants if the base does and the subtracted node does not. */
export interface ExceptNode {
  readonly kind: "except";
  readonly base: number;
  readonly subtracted: number;
}

/** A node that grants if a relation has objects and each of them grants. */
export interface EachNode {
  readonly kind: "each";
  readonly arrow: ArrowStep;
}

export type Node = ReachNode | AndNode | ExceptNode | EachNode;

/** A permission that an arrow into a member may grant. */
export interface ArrowInto {
  readonly relation: number;
  readonly permission: number;
}

/** The part of a member's definition that its own members may be computed from again. */
export interface Recursion {
  /** Of a relation: the members whose usersets it accepts. */
  readonly usersets: ReadonlySet<number>;
  /** Of a permission: members of the same type. */
  readonly references: readonly number[];
  readonly arrows: readonly ArrowStep[];
}

/** What recurs through a member: the inverse of `Recursion`. */
export interface RecursionInto {
  /** Permissions of the same type. */
  readonly references: readonly number[];
  /** The relations whose subjects are its usersets. */
  readonly relations: ReadonlySet<number>;
  readonly arrows: readonly ArrowInto[];
}

/** The model, compiled: names are integers, permissions are nodes. */
export interface Program {
  readonly typeIds: ReadonlyMap<string, number>;
  readonly typeNames: readonly string[];
  /** By member id; the first is `NO_MEMBER`. */
  readonly members: readonly Member[];
  /** By type: the ids of its members by name. */
  readonly memberIds: readonly ReadonlyMap<string, number>[];
  /** By node id. A member's node has the member's id. */
  readonly nodes: readonly Node[];
  /** By node id, then type: whether a subject of the type can be found there. */
  readonly reaches: Uint8Array;
  /** By node: whether what is found there depends on an intersection, an exclusion or an `all`. */
  readonly combines: Uint8Array;
  /** By member: the relations that accept its usersets. */
  readonly acceptedBy: readonly (readonly number[])[];
  /** By member: what it is computed from that may lead back to it. */
  readonly recursion: readonly Recursion[];
  /** By member: what may recur because of it. */
  readonly recursionInto: readonly RecursionInto[];
  /** By member: whether it is a relation that something recurs through. */
  readonly recurringRelations: Uint8Array;
  /** By member: the permissions of its type that it may grant. */
  readonly grants: readonly (readonly number[])[];
  /** By member: the permissions that it may grant through an arrow. */
  readonly arrowsInto: readonly (readonly ArrowInto[])[];
  /** By type: the permissions that an object may have on itself. */
  readonly selfGrants: readonly (readonly number[])[];
  /** By member: whether it is a group, see `findGroups`. */
  readonly groups: Uint8Array;
  /** Where the pairs of an object are. */
  readonly layout: PairLayout;
  /** By type: the members that usersets of it name, `NO_MEMBER` first. */
  readonly subjectMembers: readonly (readonly number[])[];
}

/** The names of a model as integers. */
export interface Names {
  readonly typeIds: ReadonlyMap<string, number>;
  readonly members: readonly Member[];
  readonly memberIds: readonly ReadonlyMap<string, number>[];
}
