import type { Model } from "../../model/index.ts";
import type { Names } from "./names.ts";
import type { Node } from "./program.ts";

/**
 * By node: whether an intersection, an exclusion or an `all` can be met below
 * it. Where none can, whatever a walk finds is held, without a check of each.
 */
export function combiningNodes(names: Names, nodes: readonly Node[], model: Model): Uint8Array {
  const combines = new Uint8Array(nodes.length);
  const dependents: number[][] = nodes.map(() => []);
  const definitions = [...model.definitions.values()];
  const pending: number[] = [];
  nodes.forEach((node, id) => {
    if (node.kind !== "reach") {
      pending.push(id);
      return;
    }
    for (const other of node.combined) dependents[other]?.push(id);
    for (const { targets } of node.arrows) {
      for (const target of targets) dependents[target]?.push(id);
    }
    for (const { member } of node.relations) {
      const { type, name } = names.members[member] as { type: number; name: string };
      for (const subject of definitions[type]?.relations.get(name)?.subjects ?? []) {
        const subjectType = names.typeIds.get(subject.type) as number;
        const userset = names.memberIds[subjectType]?.get(subject.relation ?? "");
        if (userset !== undefined) dependents[userset]?.push(id);
      }
    }
  });
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (combines[node] === 1) continue;
    combines[node] = 1;
    pending.push(...(dependents[node] ?? []));
  }
  return combines;
}
