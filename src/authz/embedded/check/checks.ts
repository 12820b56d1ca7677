import { AuthzError } from "../../engine/authz-error.ts";
import type { BulkCheckItem, CheckRequest } from "../../engine/requests.ts";
import type { RequestValidator } from "../../engine/validate-request.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import type { Steps } from "../graph/turns.ts";
import { checkSubject } from "./check-subject.ts";
import type { Checker } from "./checker.ts";

/** How many checks are made before a pause is possible. */
const CHECKS_A_STEP = 64;

/** Checks as they are asked for, in names. */
export class Checks {
  readonly #graph: RelationshipGraph;
  readonly #checker: Checker;
  readonly #validator: RequestValidator;

  constructor(graph: RelationshipGraph, checker: Checker, validator: RequestValidator) {
    this.#graph = graph;
    this.#checker = checker;
    this.#validator = validator;
  }

  /** Decides a check. @throws AuthzError INVALID_ARGUMENT, RESOURCE_EXHAUSTED */
  one(request: CheckRequest): boolean {
    const { resource, permission, subject } = request;
    if (!resource || !subject) this.#validator.check(request);
    const { typeIds, memberIds } = this.#graph.program;
    const type = typeIds.get(resource.type) ?? -1;
    const node = memberIds[type]?.get(permission) ?? -1;
    const object = this.#graph.objects.find(type, resource.id);
    const who = checkSubject(this.#graph, subject, resource);
    const { wildcards } = this.#graph.objects;
    // Names in stored relationships are valid, so only other names have to be checked.
    const isKnown = object >= 0 && node >= 0 && who.object >= 0 && who.member >= 0;
    if (!isKnown || object === wildcards[type] || who.object === wildcards[who.type]) {
      this.#validator.check(request);
    }
    return this.#checker.check(object, node, who);
  }

  /** Decides many checks, each by itself. */
  *all(requests: readonly CheckRequest[]): Steps<BulkCheckItem[]> {
    const items: BulkCheckItem[] = [];
    for (const request of requests) {
      try {
        items.push({ allowed: this.one(request) });
      } catch (error) {
        if (!(error instanceof AuthzError)) throw error;
        items.push({ error });
      }
      if (items.length % CHECKS_A_STEP === 0) yield;
    }
    return items;
  }
}
