import type { Model } from "../../../model/index.ts";
import type { Names, Node } from "./program.ts";

/**
 * By node, then type: whether a subject of the type can be found at the node. A check skips nodes
 * where its subject cannot be.
 */
export function reachableTypes(model: Model, names: Names, nodes: readonly Node[]): Uint8Array {
  const types = names.typeIds.size;
  const reaches = new Uint8Array(nodes.length * types);
  const definitions = [...model.definitions.values()];
  const dependents: number[][] = nodes.map(() => []);
  const dependOn = (node: number, on: number) => {
    if (on >= 0) dependents[on]?.push(node);
  };
  const pending: [node: number, type: number][] = [];
  nodes.forEach((node, id) => {
    switch (node.kind) {
      case "and":
        for (const operand of node.operands) dependOn(id, operand);
        return;
      case "except":
        dependOn(id, node.base);
        return;
      case "each":
        for (const target of node.arrow.targets) dependOn(id, target);
        return;
      case "reach":
        for (const name of node.names) {
          const { type, name: relation } = names.members[name] as { type: number; name: string };
          // A userset is a member of itself; an object may be, too.
          pending.push([id, type]);
          for (const subject of definitions[type]?.relations.get(relation)?.subjects ?? []) {
            const subjectType = names.typeIds.get(subject.type) as number;
            pending.push([id, subjectType]);
            if (subject.relation === undefined) continue;
            dependOn(id, names.memberIds[subjectType]?.get(subject.relation) ?? -1);
          }
        }
        for (const { targets } of node.arrows) for (const target of targets) dependOn(id, target);
        for (const other of node.combined) dependOn(id, other);
    }
  });
  // An operand without a name may contain `self` of any type; leave these nodes open.
  nodes.forEach((node, id) => {
    if (node.kind !== "reach" || !node.self) return;
    for (let type = 0; type < types; type++) pending.push([id, type]);
  });
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [node, type] = next;
    if (reaches[node * types + type] === 1) continue;
    reaches[node * types + type] = 1;
    for (const dependent of dependents[node] ?? []) pending.push([dependent, type]);
  }
  return reaches;
}

/**
 * By node: whether there is an intersection, an exclusion or an `all` below it. If there is none,
 * every result of a walk holds, without a check.
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
