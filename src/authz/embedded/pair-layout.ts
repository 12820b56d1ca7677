/** The slot of a member that no relationship can name. */
export const NO_SLOT = -1;

/** Where the pairs of an object are, by its type. */
export interface PairLayout {
  /**
   * By member: how far behind the object its pair is. In a wide type it is `-2`
   * less the place in the object's directory.
   */
  readonly slots: Int32Array;
  /** By type: how many pairs an object is given at first, its own as a subject among them. */
  readonly blocks: Int32Array;
  /** By type: the length of an object's directory; 0 where all pairs are in the block. */
  readonly directories: Int32Array;
}
