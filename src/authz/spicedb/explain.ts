import type { Arrow, Expression } from "../../model/index.ts";
import type { CallOptions, CheckRequest, ExplainResult, Explanation } from "../engine.ts";
import { WILDCARD } from "../object-id.ts";
import type { ObjectReference, Relationship, SubjectReference } from "../relationship.ts";
import { CHUNK, check, decide } from "./checks.ts";
import { atExactly } from "./freshness.ts";
import { hasMember } from "./member-steps.ts";
import { fromRelationship } from "./messages.ts";
import { readStored } from "./relationships.ts";
import { zedTokenOf } from "./revision.ts";
import type { Session } from "./session.ts";

/** The most steps of an explanation; those beyond are left out. */
const MAX_STEPS = 300;

/**
 * Explains a check. SpiceDB decides; then the model is walked over what is stored, at the very
 * state of the decision. SpiceDB's own debug trace names neither the operators nor the
 * relationship that decides, and leaves out what a cache answered.
 */
export async function explain(
  session: Session,
  request: CheckRequest,
  options: CallOptions = {},
): Promise<ExplainResult> {
  const decision = await check(session, request, options);
  const { resource, permission, subject } = request;
  const zedToken = zedTokenOf(decision.revision);
  const walk = new Walk(session, subject, zedToken, options.signal);
  const explanation = await walk.member(resource, permission, []);
  return { ...decision, explanation };
}

/** A step that is not yet told of which object and permission it is. */
type Step = Omit<Explanation, "resource" | "permission">;

/** The walk of one explanation. */
class Walk {
  readonly #session: Session;
  readonly #subject: SubjectReference;
  readonly #at: ReturnType<typeof atExactly>;
  readonly #signal: AbortSignal | undefined;
  #steps = 0;

  constructor(
    session: Session,
    subject: SubjectReference,
    zedToken: string,
    signal: AbortSignal | undefined,
  ) {
    this.#session = session;
    this.#subject = subject;
    this.#at = atExactly(zedToken);
    this.#signal = signal;
  }

  /** Explains a relation or permission of an object; `above` are those that led here. */
  async member(
    resource: ObjectReference,
    name: string,
    above: readonly string[],
  ): Promise<Explanation> {
    this.#steps++;
    const { type, id, relation } = this.#subject;
    const key = `${resource.type}:${resource.id}#${name}`;
    const node = { resource, permission: name, children: [] };
    if (above.includes(key)) return { ...node, kind: "cycle", allowed: false };
    const definition = this.#session.model.definitions.get(resource.type);
    const expression = definition?.permissions.get(name)?.expression;
    const path = [...above, key];
    if (definition === undefined || expression === undefined) {
      if (key === `${type}:${id}#${relation}`) return { ...node, kind: "self", allowed: true };
      return { ...node, ...(await this.#relation(resource, name, path)) };
    }
    if (expression.kind === "reference") {
      const child = await this.member(resource, expression.name, path);
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
    if (expression.kind === "reference") return this.member(resource, expression.name, path);
    const below = (operand: Expression) => this.#operand(resource, name, operand, path);
    const step = await this.#expression(resource, expression, path, below);
    return { resource, permission: name, ...step };
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
      case "self": {
        const { type, id, relation } = this.#subject;
        const same = type === resource.type && id === resource.id && relation === undefined;
        return { kind: "self", allowed: same, children: [] };
      }
      case "union": {
        const children: Explanation[] = [];
        for (const operand of expression.operands) {
          const child = await below(operand);
          if (child.allowed) return { kind: "union", allowed: true, children: [child] };
          children.push(child);
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

  async #arrow(
    resource: ObjectReference,
    { relation, permission, function: combination }: Arrow,
    path: readonly string[],
  ): Promise<Step> {
    const stored = await this.#read(resource, relation);
    const related = stored.map(({ subject: { type, id } }) => ({ type, id, relation: permission }));
    const granted = await this.#granted(related);
    const any = combination === "any";
    const allowed = any ? granted.includes(true) : granted.length > 0 && !granted.includes(false);
    // One that grants is enough for `any`, and one that does not against `all`.
    const one = allowed === any ? related[granted.indexOf(allowed)] : undefined;
    const children = await this.#members(one === undefined ? related : [one], path);
    return { kind: "arrow", allowed, children };
  }

  async #relation(resource: ObjectReference, name: string, path: readonly string[]): Promise<Step> {
    const stored = await this.#read(resource, name);
    const direct = stored.find(({ subject }) => this.#names(subject));
    if (direct) return { kind: "relation", allowed: true, relationship: direct, children: [] };

    const usersets = stored.filter(({ subject }) => subject.relation !== undefined);
    const subjects = usersets.map(({ subject }) => subject);
    const index = (await this.#granted(subjects)).indexOf(true);
    const relationship = usersets[index];
    if (relationship === undefined) {
      const children = await this.#members(subjects, path);
      return { kind: "relation", allowed: false, children };
    }
    const children = await this.#members([relationship.subject], path);
    return { kind: "relation", allowed: true, relationship, children };
  }

  /** Whether a stored subject is the one asked for, or stands for all of its type. */
  #names({ type, id, relation }: SubjectReference): boolean {
    const asked = this.#subject;
    const same = id === asked.id && relation === asked.relation;
    return type === asked.type && (same || (id === WILDCARD && asked.relation === undefined));
  }

  async #members(usersets: readonly SubjectReference[], path: readonly string[]) {
    const children: Explanation[] = [];
    for (const { type, id, relation = "" } of usersets) {
      if (this.#steps >= MAX_STEPS) break;
      const resource = { type, id };
      const has = hasMember(this.#session.model, type, relation);
      children.push(
        has
          ? await this.member(resource, relation, path)
          : { resource, permission: relation, kind: "nil", allowed: false, children: [] },
      );
    }
    return children;
  }

  /** Which of these usersets hold the subject: SpiceDB is asked, so that only what decides is walked. */
  async #granted(usersets: readonly SubjectReference[]): Promise<boolean[]> {
    const { model } = this.#session;
    const granted = usersets.map(() => false);
    const asked = [...usersets.entries()].filter(([, { type, relation = "" }]) =>
      hasMember(model, type, relation),
    );
    for (let start = 0; start < asked.length; start += CHUNK) {
      const chunk = asked.slice(start, start + CHUNK);
      const requests = chunk.map(([, { type, id, relation = "" }]) => ({
        resource: { type, id },
        permission: relation,
        subject: this.#subject,
      }));
      const { items } = await decide(this.#session, requests, this.#at, this.#signal);
      for (const [position, [index]] of chunk.entries()) {
        const item = items[position];
        if (item?.error !== undefined) throw item.error;
        granted[index] = item?.allowed === true;
      }
    }
    return granted;
  }

  async #read(resource: ObjectReference, relation: string): Promise<Relationship[]> {
    const filter = { resourceType: resource.type, resourceId: resource.id, relation };
    const stored = await readStored(this.#session, filter, this.#at, this.#signal);
    return stored.map(({ relationship }) => fromRelationship(relationship));
  }
}
