import { didYouMean } from "../../diagnostics/nearest.ts";
import { CALLER_SUBJECT_TYPES } from "../../model/caller-types.ts";
import { type Definition, formatSubject, type Model } from "../../model/index.ts";
import { OBJECT_IDS, type ObjectIdRule, WILDCARD } from "../../model/object-id.ts";
import type {
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "../../model/relationship.ts";
import { formatRelationship } from "../../model/relationship-text.ts";
import { AuthzError } from "./authz-error.ts";
import {
  type CheckAnyRequest,
  type CheckRequest,
  type LookupSubjectsRequest,
  MAX_PAGE_SIZE,
  MAX_PRECONDITIONS,
  MAX_UPDATES,
  type PageRequest,
  type WriteRequest,
} from "./requests.ts";

/**
 * Refuses requests that can never be right, by the model and the rule of ids. Every method throws
 * an `AuthzError` INVALID_ARGUMENT that names the first problem.
 */
export class RequestValidator {
  readonly #model: Model;
  readonly #ids: ObjectIdRule;

  constructor(model: Model, ids: ObjectIdRule = OBJECT_IDS) {
    this.#model = model;
    this.#ids = ids;
  }

  check({ resource, permission, subject }: CheckRequest): void {
    requireObject("resource", resource);
    checkObjectId(this.#ids, "resource", resource.id);
    this.#concreteId(subject);
    this.#requireMember(resource.type, permission);
    if (!this.isUnknownCaller(subject)) this.#requireSubject(subject);
  }

  /** Also a lookup of resources, except for its page. */
  checkAny({ resourceType, permission, subject }: CheckAnyRequest): void {
    this.#concreteId(subject);
    this.#requireMember(resourceType, permission);
    if (!this.isUnknownCaller(subject)) this.#requireSubject(subject);
  }

  /**
   * Whether a subject is a caller of a type that the model does not have, such as a service account of a
   * service for people: it holds nothing. Other unknown types are mistakes.
   */
  isUnknownCaller({ type, relation }: SubjectReference): boolean {
    return (
      relation === undefined && CALLER_SUBJECT_TYPES.has(type) && !this.#model.definitions.has(type)
    );
  }

  lookupSubjects(request: LookupSubjectsRequest): void {
    const { resource, permission, subjectType, subjectRelation } = request;
    requireObject("resource", resource);
    checkObjectId(this.#ids, "resource", resource.id);
    this.#requireMember(resource.type, permission);
    this.#requireType(subjectType);
    if (subjectRelation !== undefined) this.#requireMember(subjectType, subjectRelation);
  }

  write({ updates, preconditions = [] }: WriteRequest): void {
    if (!Array.isArray(updates) || updates.length === 0)
      throw invalid("a write has at least one update");
    atMost("updates", updates.length, MAX_UPDATES);
    atMost("preconditions", preconditions.length, MAX_PRECONDITIONS);
    const seen = new Set<string>();
    for (const { operation, relationship } of updates) {
      if (operation !== "CREATE" && operation !== "TOUCH" && operation !== "DELETE") {
        throw invalid(`an update is CREATE, TOUCH or DELETE, not ${JSON.stringify(operation)}`);
      }
      this.relationship(relationship);
      if (updates.length === 1) continue;
      const text = formatRelationship(relationship);
      if (seen.has(text)) throw invalid(`the write contains ${text} twice`);
      seen.add(text);
    }
    for (const { kind, filter } of preconditions) {
      if (kind !== "MUST_MATCH" && kind !== "MUST_NOT_MATCH") {
        throw invalid(
          `a precondition is MUST_MATCH or MUST_NOT_MATCH, not ${JSON.stringify(kind)}`,
        );
      }
      this.filter(filter);
      // As in SpiceDB, where an empty filter lists everything, but is not allowed as a
      // precondition.
      if (Object.values(filter).every((part) => part === undefined)) {
        throw invalid("the filter of a precondition is empty; name a type, an id or a relation");
      }
    }
  }

  /** In the order of SpiceDB: ids, resource, subject, not a permission, subject allowed. */
  relationship(relationship: Relationship): void {
    requireObject("relationship", relationship);
    const { resource, relation, subject } = relationship;
    requireObject("resource", resource);
    requireObject("subject", subject);
    checkObjectId(this.#ids, "resource", resource.id);
    if (subject.id !== WILDCARD) checkObjectId(this.#ids, "subject", subject.id);
    else if (subject.relation !== undefined) {
      throw invalid(`a wildcard has no relation: ${subject.type}:*#${subject.relation}`);
    }
    this.#requireWritable(resource.type, relation, relationship);
    this.#requireSubject(subject, relationship);
    const declared = this.#requireType(resource.type).relations.get(relation);
    if (declared === undefined) {
      throw invalid(
        `${beginning(relationship)}"${relation}" is a permission, which is computed and never written`,
      );
    }
    const wildcard = subject.id === WILDCARD;
    for (const allowed of declared.subjects) {
      if (
        allowed.type === subject.type &&
        allowed.relation === subject.relation &&
        allowed.wildcard === wildcard
      ) {
        return;
      }
    }
    const accepted = declared.subjects.map(formatSubject).join(", ");
    throw invalid(
      `${beginning(relationship)}the relation does not allow this subject; it allows ${accepted}`,
    );
  }

  filter({ resourceType, resourceId, relation, subject }: RelationshipFilter): void {
    if (resourceId !== undefined) checkObjectId(this.#ids, "resource", resourceId);
    if (subject?.id !== undefined && subject.id !== WILDCARD) {
      checkObjectId(this.#ids, "subject", subject.id);
    }
    const type = resourceType === undefined ? undefined : this.#requireType(resourceType);
    if (relation !== undefined) {
      const types = type === undefined ? [...this.#model.definitions.values()] : [type];
      if (!types.some(({ relations }) => relations.has(relation))) {
        const who = type === undefined ? "no type has a" : `the type "${resourceType}" has no`;
        const known = types.flatMap(({ relations }) => [...relations.keys()]);
        throw invalid(`${who} relation ${JSON.stringify(relation)}${hintFor(relation, known)}`);
      }
    }
    if (subject !== undefined) {
      this.#requireType(subject.type);
      if (subject.relation) this.#requireMember(subject.type, subject.relation);
    }
  }

  #concreteId(subject: SubjectReference): void {
    requireObject("subject", subject);
    const { id } = subject;
    if (id === WILDCARD) throw invalid("a wildcard cannot be the subject of a check");
    checkObjectId(this.#ids, "subject", id);
  }

  #requireSubject({ type, relation }: SubjectReference, of?: Relationship): void {
    this.#requireType(type, of);
    if (relation !== undefined) this.#requireMember(type, relation, of);
  }

  #requireType(type: string, of?: Relationship): Definition {
    const { definitions } = this.#model;
    const definition = definitions.get(type);
    if (definition !== undefined) return definition;
    const hint = hintFor(type, definitions.keys());
    throw invalid(`${beginning(of)}the model has no type ${JSON.stringify(type)}${hint}`);
  }

  #requireMember(type: string, name: string, of?: Relationship): void {
    const { relations, permissions } = this.#requireType(type, of);
    if (relations.has(name) || permissions.has(name)) return;
    throw noMember(type, name, { known: [...relations.keys(), ...permissions.keys()], of });
  }

  /** A misspelt relation of a relationship: a permission is never written, so it is not suggested. */
  #requireWritable(type: string, name: string, of: Relationship): void {
    const { relations, permissions } = this.#requireType(type, of);
    if (relations.has(name) || permissions.has(name)) return;
    throw noMember(type, name, { known: relations.keys(), of });
  }
}

/** A write has many relationships, so messages begin with the one that has the problem. */
function beginning(of: Relationship | undefined): string {
  return of === undefined ? "" : `${formatRelationship(of)}: `;
}

interface Suggestions {
  /** The names that the message may suggest. */
  readonly known: Iterable<string>;
  readonly of: Relationship | undefined;
}

function noMember(type: string, name: string, { known, of }: Suggestions): AuthzError {
  return invalid(
    `${beginning(of)}the type "${type}" has no relation or permission ${JSON.stringify(name)}${hintFor(name, known)}`,
  );
}

/** The name that was meant; untyped callers may pass a name that is not text. */
function hintFor(name: unknown, known: Iterable<string>): string {
  return typeof name === "string" ? didYouMean(name, known) : "";
}

/** The size of a page. @throws AuthzError INVALID_ARGUMENT */
export function pageSizeOf({ pageSize = MAX_PAGE_SIZE }: PageRequest): number {
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE) {
    throw invalid(`a page has 1 to ${MAX_PAGE_SIZE} results, not ${pageSize}`);
  }
  return pageSize;
}

/** The refusal of a request that can never be right. */
export function invalid(message: string): AuthzError {
  return new AuthzError("INVALID_ARGUMENT", message);
}

/** Otherwise a member that an untyped caller omits would be a TypeError from inside. */
function requireObject(what: string, value: unknown): void {
  if (typeof value !== "object" || value === null) throw invalid(`the ${what} is missing`);
}

function atMost(what: string, count: number, limit: number): void {
  if (count > limit) throw invalid(`a write has at most ${limit} ${what}, not ${count}`);
}

const SHOWN = 80;

/** Refuses an id that the rule does not allow; `what` names the object in the message. */
function checkObjectId(rule: ObjectIdRule, what: string, id: unknown): void {
  if (typeof id === "string" && rule.allows(id)) return;
  const shown = typeof id === "string" ? JSON.stringify(id.slice(0, SHOWN)) : typeof id;
  throw invalid(`the ${what} id ${shown} is not valid; an id is ${rule.description}`);
}

/** A stored relationship that the model does not allow, and why: what `--misfit` selects. */
export interface DisallowedRelationship {
  readonly relationship: Relationship;
  readonly reason: string;
}

/** Why the model does not allow a relationship that was stored; undefined if it does. */
export function disallowedRelationship(
  validator: RequestValidator,
  relationship: Relationship,
): DisallowedRelationship | undefined {
  try {
    validator.relationship(relationship);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const prefix = `${formatRelationship(relationship)}: `;
    return {
      relationship,
      reason: message.startsWith(prefix) ? message.slice(prefix.length) : message,
    };
  }
}

/** `type:id#relation@type:id: why`. */
export function formatDisallowed({ relationship, reason }: DisallowedRelationship): string {
  return `${formatRelationship(relationship)}: ${reason}`;
}
