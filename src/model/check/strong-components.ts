/**
 * Numbers the strongly connected components of a graph (Tarjan's algorithm): two nodes have the
 * same number if each can be reached from the other. Edges to unknown nodes are passed over.
 *
 * It keeps its own stack: a path may be longer than the call stack allows.
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
