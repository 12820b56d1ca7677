import type { Position } from "../schema/model.ts";

/** A reference from one node of a graph to another, with its position in the text. */
export interface Edge {
  readonly to: string;
  readonly position: Position;
}

/**
 * Calls `onCycle` for each reference that closes a cycle, with the path of the cycle: it starts and
 * ends with the node that the reference names.
 *
 * It uses its own stack: a chain of references may be longer than the call stack.
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

/**
 * Numbers the strongly connected components of a graph (Tarjan's algorithm): two nodes have the
 * same number if each can be reached from the other. Edges to unknown nodes are ignored.
 *
 * It uses its own stack: a path may be longer than the call stack.
 */
export function strongComponents(
  nodes: Iterable<string>,
  edgesOf: (node: string) => readonly string[],
): ReadonlyMap<string, number> {
  const component = new Map<string, number>();
  const order = new Map<string, number>();
  const unassigned: string[] = [];

  const visit = (node: string) => {
    order.set(node, order.size);
    unassigned.push(node);
    return { node, low: order.size - 1, edges: edgesOf(node), next: 0 };
  };
  for (const start of nodes) {
    if (order.has(start)) continue;
    const path = [visit(start)];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const target = step.edges[step.next++];
      if (target !== undefined) {
        const seen = order.get(target);
        if (seen === undefined) path.push(visit(target));
        else if (!component.has(target)) step.low = Math.min(step.low, seen);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent) parent.low = Math.min(parent.low, step.low);
      if (step.low === order.get(step.node)) closeComponent(step.node, unassigned, component);
    }
  }
  return component;
}

function closeComponent(root: string, unassigned: string[], component: Map<string, number>): void {
  const number = component.size;
  for (let node = unassigned.pop(); node !== undefined; node = unassigned.pop()) {
    component.set(node, number);
    if (node === root) return;
  }
}
