import type { Arrow, Expression, Model } from "../../../model/index.ts";
import type { ObjectReference, SubjectReference } from "../../../model/relationship.ts";
import { hasMember } from "../../../model/schema/dependencies.ts";
import type {
  CallOptions,
  CheckRequest,
  ExplainResult,
  Explanation,
} from "../../engine/requests.ts";
import type { SpicedbSession } from "../client/session.ts";
import { zedTokenOf } from "../client/tokens.ts";
import { check } from "./checks.ts";
import { ExplainReads } from "./explain-reads.ts";

/** The most steps of an explanation; those beyond are left out. */
const MAX_STEPS = 300;

/**
 * Explains a check. SpiceDB decides; then the model is walked over the stored relationships, at the
 * same state. SpiceDB's own debug trace names neither the operators nor the relationship that
 * decides, and omits results from a cache.
 */
export async function explain(
  session: SpicedbSession,
  request: CheckRequest,
  options: CallOptions = {},
): Promise<ExplainResult> {
  const decision = await check(session, request, options);
  const { resource, permission, subject } = request;
  const zedToken = zedTokenOf(decision.revision);
  const reads = new ExplainReads(session, subject, zedToken, options.signal);
  const walk = new Walk(session.model, subject, reads);
  const explanation = await walk.member(resource, permission, []);
  return { ...decision, explanation };
}

/** A step that does not have its object and permission yet. */
type Step = Omit<Explanation, "resource" | "permission">;

/** The outcome of an arrow. */
interface DecidedArrow {
  readonly allowed: boolean;
  /** What is walked of what it leads to: what decides, otherwise the first ones; it is kept for the whole walk. */
  readonly walked: readonly SubjectReference[];
}

/** An operand of an operator, and whether the subject holds it. */
interface DecidedOperand {
  readonly operand: Expression;
  readonly holds: boolean;
}

/** The walk of one explanation. */
class Walk {
  readonly #model: Model;
  readonly #subject: SubjectReference;
  readonly #reads: ExplainReads;
  readonly #arrows = new Map<string, Promise<DecidedArrow>>();
  #steps = 0;

  constructor(model: Model, subject: SubjectReference, reads: ExplainReads) {
    this.#model = model;
    this.#subject = subject;
    this.#reads = reads;
  }

  /** Explains a relation or permission of an object; `above` are those that led here. */
  async member(
    resource: ObjectReference,
    name: string,
    above: readonly string[],
  ): Promise<Explanation> {
    this.#steps++;
    const key = `${resource.type}:${resource.id}#${name}`;
    const node = { resource, permission: name, children: [] };
    // A userset is a member of itself, regardless of its relation or permission.
    if (this.#isSubject(resource, name)) {
      return { ...node, kind: "self", allowed: true };
    }
    if (above.includes(key)) return { ...node, kind: "cycle", allowed: false };
    const definition = this.#model.definitions.get(resource.type);
    const expression = definition?.permissions.get(name)?.expression;
    const path = [...above, key];
    if (definition === undefined || expression === undefined) {
      return { ...node, ...(await this.#relation(resource, name, path)) };
    }
    if (expression.kind === "reference") {
      const child = await this.#operand(resource, name, expression, path);
      return { ...node, kind: "union", allowed: child.allowed, children: [child] };
    }
    return this.#operand(resource, name, expression, path);
  }

  async #operand(
    resource: ObjectReference,
    name: string,
    expression: Expression,
    path: readonly string[],
  ): Promise<Explanation> {
    // Names lead to names, twice as many at each: what is left of the operators is decided without its steps.
    if (this.#steps >= MAX_STEPS) return this.#leftOut(resource, name, expression);
    if (expression.kind === "reference") return this.member(resource, expression.name, path);
    const below = (operand: Expression) => this.#operand(resource, name, operand, path);
    const step = await this.#expression(resource, expression, path, below);
    return { resource, permission: name, ...step };
  }

  /** An operand that is decided, and whose steps are left out. */
  async #leftOut(
    resource: ObjectReference,
    name: string,
    expression: Expression,
  ): Promise<Explanation> {
    const isNamed = expression.kind === "reference";
    const allowed = await this.#holds(resource, expression);
    const permission = isNamed ? expression.name : name;
    const kind = isNamed ? this.#kindOf(resource, permission) : expression.kind;
    return { resource, permission, kind, allowed, children: [] };
  }

  #kindOf({ type }: ObjectReference, name: string): Explanation["kind"] {
    const permission = this.#model.definitions.get(type)?.permissions.get(name);
    if (permission === undefined) return "relation";
    const { kind } = permission.expression;
    return kind === "reference" ? "union" : kind;
  }

  async #expression(
    resource: ObjectReference,
    expression: Exclude<Expression, { kind: "reference" }>,
    path: readonly string[],
    below: (operand: Expression) => Promise<Explanation>,
  ): Promise<Step> {
    switch (expression.kind) {
      case "nil":
        return { kind: "nil", allowed: false, children: [] };
      case "self":
        return { kind: "self", allowed: this.#isSubject(resource, undefined), children: [] };
      case "union": {
        // Only one that decides is walked: the steps are few, and others may have very many.
        const walked = new Map<Expression, Explanation>();
        for await (const { operand, holds } of this.#decided(resource, expression.operands)) {
          if (!holds) continue;
          const child = await below(operand);
          if (child.allowed) return { kind: "union", allowed: true, children: [child] };
          walked.set(operand, child);
        }
        const children: Explanation[] = [];
        for (const operand of expression.operands) {
          children.push(walked.get(operand) ?? (await below(operand)));
        }
        return { kind: "union", allowed: false, children };
      }
      case "intersection": {
        const children: Explanation[] = [];
        for (const operand of expression.operands) children.push(await below(operand));
        const allowed = children.every(({ allowed }) => allowed);
        return { kind: "intersection", allowed, children };
      }
      case "exclusion": {
        const base = await below(expression.base);
        const subtracted = await below(expression.subtracted);
        const allowed = base.allowed && !subtracted.allowed;
        return { kind: "exclusion", allowed, children: [base, subtracted] };
      }
      case "arrow":
        return this.#arrow(resource, expression, path);
    }
  }

  /** Whether the subject is an object, or with a relation this userset of it. */
  #isSubject(resource: ObjectReference, name: string | undefined): boolean {
    const { type, id, relation } = this.#subject;
    return type === resource.type && id === resource.id && relation === name;
  }

  /**
   * Decides operands as SpiceDB does: the names among them at once, the others each only when its
   * turn comes, since an arrow may lead to very many objects.
   */
  async *#decided(
    resource: ObjectReference,
    operands: readonly Expression[],
  ): AsyncGenerator<DecidedOperand> {
    const names = operands.flatMap((one) => (one.kind === "reference" ? [one.name] : []));
    const { type, id } = resource;
    const granted = await this.#reads.granted(names.map((relation) => ({ type, id, relation })));
    const held = new Set(names.filter((_, index) => granted[index] === true));
    for (const operand of operands) {
      const holds =
        operand.kind === "reference"
          ? held.has(operand.name)
          : await this.#holds(resource, operand);
      yield { operand, holds };
    }
  }

  async #holds(resource: ObjectReference, expression: Expression): Promise<boolean> {
    switch (expression.kind) {
      case "nil":
        return false;
      case "self":
        return this.#isSubject(resource, undefined);
      case "arrow":
        return (await this.#decideArrow(resource, expression)).allowed;
      case "reference":
      case "union":
        for await (const { holds } of this.#decided(resource, operandsOf(expression))) {
          if (holds) return true;
        }
        return false;
      case "intersection":
        for await (const { holds } of this.#decided(resource, expression.operands)) {
          if (!holds) return false;
        }
        return true;
      case "exclusion": {
        const { base, subtracted } = expression;
        return (await this.#holds(resource, base)) && !(await this.#holds(resource, subtracted));
      }
    }
  }

  #decideArrow(resource: ObjectReference, arrow: Arrow): Promise<DecidedArrow> {
    const { relation, permission, function: combination } = arrow;
    const key = `${resource.type}:${resource.id}#${relation}.${combination}(${permission})`;
    const decide = async () => {
      const stored = await this.#reads.read(resource, relation);
      const related = stored.map(({ subject }) => {
        return { type: subject.type, id: subject.id, relation: permission };
      });
      const granted = await this.#reads.granted(related);
      const any = combination === "any";
      const allowed = any ? granted.includes(true) : granted.length > 0 && !granted.includes(false);
      // One step that grants decides `any`, and one that does not decides `all`.
      const one = allowed === any ? related[granted.indexOf(allowed)] : undefined;
      return { allowed, walked: one === undefined ? related.slice(0, MAX_STEPS) : [one] };
    };
    const known = this.#arrows.get(key) ?? decide();
    this.#arrows.set(key, known);
    return known;
  }

  async #arrow(resource: ObjectReference, arrow: Arrow, path: readonly string[]): Promise<Step> {
    const { allowed, walked } = await this.#decideArrow(resource, arrow);
    const children = await this.#members(walked, path);
    return { kind: "arrow", allowed, children };
  }

  async #relation(resource: ObjectReference, name: string, path: readonly string[]): Promise<Step> {
    const direct = await this.#reads.direct(resource, name);
    if (direct) return { kind: "relation", allowed: true, relationship: direct, children: [] };

    const usersets = await this.#reads.usersets(resource, name);
    const subjects = usersets.map(({ subject }) => subject);
    const index = (await this.#reads.granted(subjects)).indexOf(true);
    const relationship = usersets[index];
    if (relationship === undefined) {
      const children = await this.#members(subjects, path);
      return { kind: "relation", allowed: false, children };
    }
    const children = await this.#members([relationship.subject], path);
    return { kind: "relation", allowed: true, relationship, children };
  }

  async #members(usersets: readonly SubjectReference[], path: readonly string[]) {
    const children: Explanation[] = [];
    for (const { type, id, relation = "" } of usersets) {
      if (this.#steps >= MAX_STEPS) break;
      const resource = { type, id };
      const has = hasMember(this.#model, type, relation);
      children.push(
        has
          ? await this.member(resource, relation, path)
          : { resource, permission: relation, kind: "nil", allowed: false, children: [] },
      );
    }
    return children;
  }
}

function operandsOf(expression: Expression): readonly Expression[] {
  return expression.kind === "union" ? expression.operands : [expression];
}
