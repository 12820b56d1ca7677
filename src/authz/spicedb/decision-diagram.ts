/** A function of yes-or-no operands: the same number for the same function of one diagram. */
export type DiagramNode = number & { readonly node: unique symbol };

const NO = 0 as DiagramNode;
const YES = 1 as DiagramNode;
/** Far more than any model of a person needs, and reached in a fraction of a second. */
const MAX_NODES = 200_000;
/** Bounds the recursion, which is as deep as there are operands. */
const MAX_OPERANDS = 1000;

/** A diagram would be larger than its bound. */
export class DiagramTooLarge extends Error {
  override readonly name = "DiagramTooLarge";
}

/**
 * A reduced ordered binary decision diagram: functions that are equal for all values of their
 * operands are one node, however they are written.
 */
export class DecisionDiagram {
  /** The function that is no, whatever its operands are. */
  readonly never = NO;
  readonly #operands = new Map<string, number>();
  /** Of each node the operand that it asks, and where no and yes lead; two leaves come first. */
  readonly #nodes: { operand: number; no: DiagramNode; yes: DiagramNode }[] = [
    { operand: MAX_OPERANDS, no: NO, yes: NO },
    { operand: MAX_OPERANDS, no: YES, yes: YES },
  ];
  readonly #known = new Map<string, DiagramNode>();
  readonly #chosen = new Map<string, DiagramNode>();

  /**
   * The function that is what its one operand is.
   *
   * @throws DiagramTooLarge where there are too many operands
   */
  operand(name: string): DiagramNode {
    let operand = this.#operands.get(name);
    if (operand === undefined) {
      operand = this.#operands.size;
      if (operand === MAX_OPERANDS) throw new DiagramTooLarge();
      this.#operands.set(name, operand);
    }
    return this.#node(operand, NO, YES);
  }

  /** @throws DiagramTooLarge where the function takes too many nodes */
  and(left: DiagramNode, right: DiagramNode): DiagramNode {
    return this.#choose(left, right, NO);
  }

  /** @throws DiagramTooLarge where the function takes too many nodes */
  or(left: DiagramNode, right: DiagramNode): DiagramNode {
    return this.#choose(left, YES, right);
  }

  /** @throws DiagramTooLarge where the function takes too many nodes */
  not(node: DiagramNode): DiagramNode {
    return this.#choose(node, NO, YES);
  }

  /** `yes` where the condition holds, else `no`. */
  #choose(condition: DiagramNode, yes: DiagramNode, no: DiagramNode): DiagramNode {
    if (condition === YES || yes === no) return yes;
    if (condition === NO) return no;
    const key = `${condition},${yes},${no}`;
    const known = this.#chosen.get(key);
    if (known !== undefined) return known;
    const nodes = [condition, yes, no] as const;
    const operand = Math.min(...nodes.map((node) => this.#at(node).operand));
    const when = (side: "no" | "yes") =>
      nodes.map((node) => {
        const at = this.#at(node);
        return at.operand === operand ? at[side] : node;
      }) as [DiagramNode, DiagramNode, DiagramNode];
    const chosen = this.#node(operand, this.#choose(...when("no")), this.#choose(...when("yes")));
    this.#chosen.set(key, chosen);
    return chosen;
  }

  #node(operand: number, no: DiagramNode, yes: DiagramNode): DiagramNode {
    if (no === yes) return no;
    const key = `${operand},${no},${yes}`;
    let node = this.#known.get(key);
    if (node === undefined) {
      if (this.#nodes.length === MAX_NODES) throw new DiagramTooLarge();
      node = this.#nodes.length as DiagramNode;
      this.#nodes.push({ operand, no, yes });
      this.#known.set(key, node);
    }
    return node;
  }

  #at(node: DiagramNode): { operand: number; no: DiagramNode; yes: DiagramNode } {
    const at = this.#nodes[node];
    if (at === undefined) throw new Error(`there is no node ${node}`);
    return at;
  }
}
