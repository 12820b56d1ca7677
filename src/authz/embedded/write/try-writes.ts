import type { Relationship } from "../../../model/relationship.ts";
import { formatRelationship } from "../../../model/relationship-text.ts";
import { abortError } from "../../engine/abort-error.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { RelationshipUpdate, WriteRequest } from "../../engine/requests.ts";
import { findEdges } from "../graph/find-edges.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import { findCycle, mayCloseCycle } from "./find-cycle.ts";

/** A write that is tried; its request is valid by itself. */
export interface TriedWrite {
  readonly request: WriteRequest;
  readonly signal: AbortSignal | undefined;
}

/** A write, and why it is refused if it is. */
export interface Outcome<Write> {
  readonly write: Write;
  readonly refusal: { readonly error: unknown } | undefined;
}

/**
 * Tries writes in memory in their order, each on top of the previous ones, and undoes all of them,
 * without yielding in between: no read sees uncommitted data.
 */
export function tryWrites<Write extends TriedWrite>(
  graph: RelationshipGraph,
  writes: readonly Write[],
): Outcome<Write>[] {
  const made: RelationshipUpdate[] = [];
  const isAlone = writes.length === 1;
  const outcomes = writes.map((write): Outcome<Write> => {
    const mark = made.length;
    try {
      if (write.signal?.aborted) throw abortError(write.signal);
      if (isAlone && isSimple(graph, write.request)) requireAbsent(graph, write.request);
      else tryWrite(graph, write.request, made);
      return { write, refusal: undefined };
    } catch (error) {
      takeBack(graph, made, mark);
      return { write, refusal: { error } };
    }
  });
  takeBack(graph, made, 0);
  return outcomes;
}

/**
 * Whether the only possible reason to refuse a single write is a CREATE of an existing
 * relationship; then nothing has to be tried.
 */
function isSimple(graph: RelationshipGraph, { updates, preconditions = [] }: WriteRequest) {
  if (preconditions.length > 0) return false;
  for (const { operation, relationship } of updates) {
    if (operation !== "DELETE" && mayCloseCycle(graph, relationship)) return false;
  }
  return true;
}

/** No update of a write depends on another one, since a write names each relationship once. */
function requireAbsent(graph: RelationshipGraph, { updates }: WriteRequest): void {
  for (const { operation, relationship } of updates) {
    if (operation === "CREATE" && graph.has(relationship)) throw existsError(relationship);
  }
}

/**
 * Applies a write to memory; its changes are added to `made`.
 *
 * @throws AuthzError if it is refused, possibly after a part of it was applied
 */
function tryWrite(
  graph: RelationshipGraph,
  { updates, preconditions = [] }: WriteRequest,
  made: RelationshipUpdate[],
): void {
  for (const { kind, filter } of preconditions) {
    const matches = !findEdges(graph, filter).next().done;
    if (matches === (kind === "MUST_MATCH")) continue;
    throw new AuthzError(
      "FAILED_PRECONDITION",
      `the precondition ${kind} ${JSON.stringify(filter)} does not hold`,
    );
  }
  const added: Relationship[] = [];
  for (const update of updates) {
    const { operation, relationship } = update;
    if (operation === "DELETE" ? graph.remove(relationship) : graph.add(relationship)) {
      made.push(update);
      if (operation !== "DELETE") added.push(relationship);
    } else if (operation === "CREATE") throw existsError(relationship);
  }
  const closing = added.filter((relationship) => mayCloseCycle(graph, relationship));
  const cycle = closing.length === 0 ? undefined : findCycle(graph, closing);
  if (cycle === undefined) return;
  throw new AuthzError("FAILED_PRECONDITION", `the write would close a cycle: ${cycle}`);
}

function existsError(relationship: Relationship): AuthzError {
  return new AuthzError("ALREADY_EXISTS", `${formatRelationship(relationship)} exists`);
}

/** Undoes changes, the last one first, until this many remain. */
function takeBack(graph: RelationshipGraph, made: RelationshipUpdate[], left: number): void {
  if (made.length === left) return;
  for (const { operation, relationship } of made.splice(left).reverse()) {
    if (operation === "DELETE") graph.add(relationship);
    else graph.remove(relationship);
  }
}
