/** A group with the group above it. */
export interface TreeGroup {
  readonly id: string;
  /** Empty at the top. */
  readonly parentId: string;
}

/** A group that is above itself; undefined where there is none. */
export function groupInCycle(groups: readonly TreeGroup[]): string | undefined {
  const parents = new Map(groups.map(({ id, parentId }) => [id, parentId]));
  const checked = new Set<string>();
  for (const { id } of groups) {
    const path = new Set<string>();
    let at: string | undefined = id;
    while (at !== undefined && at !== "" && !checked.has(at)) {
      if (path.has(at)) return at;
      path.add(at);
      at = parents.get(at);
    }
    for (const one of path) checked.add(one);
  }
  return undefined;
}
