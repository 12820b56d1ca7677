import type { Position } from "./position.ts";

/** A reference from one node of a graph to another, where the text makes it. */
export interface Edge {
  readonly to: string;
  readonly position: Position;
}

/**
 * Calls `onCycle` for each reference that closes a cycle, with the path from the node that it leads
 * back to, through the one that it leaves, to that node again.
 *
 * It keeps its own stack: a chain of references may be longer than the call stack allows.
 */
export function findCycles(
  nodes: Iterable<string>,
  edgesOf: (node: string) => readonly Edge[],
  onCycle: (path: readonly string[], edge: Edge) => void,
): void {
  const done = new Set<string>();
  for (const start of nodes) {
    if (done.has(start)) continue;
    const path = [{ node: start, edges: edgesOf(start), next: 0 }];
    const onPath = new Set([start]);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const edge = step.edges[step.next++];
      if (edge === undefined) {
        path.pop();
        onPath.delete(step.node);
        done.add(step.node);
      } else if (onPath.has(edge.to)) {
        const names = path.map(({ node }) => node);
        onCycle([...names.slice(names.indexOf(edge.to)), edge.to], edge);
      } else if (!done.has(edge.to)) {
        path.push({ node: edge.to, edges: edgesOf(edge.to), next: 0 });
        onPath.add(edge.to);
      }
    }
  }
}
