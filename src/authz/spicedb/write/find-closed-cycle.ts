import type { Model } from "../../../model/index.ts";
import type {
  ObjectReference,
  Relationship,
  SubjectReference,
} from "../../../model/relationship.ts";
import {
  type MemberStep,
  memberSteps,
  reachableMembers,
} from "../../../model/schema/dependencies.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { RelationshipUpdate } from "../../engine/requests.ts";

/** The stored subjects of a step's relation on an object. */
export type ReadSubjects = (
  resource: ObjectReference,
  through: NonNullable<MemberStep["through"]>,
) => Promise<readonly SubjectReference[]>;

/** A relation or permission of an object, whose members are walked. */
interface Node {
  readonly object: ObjectReference;
  readonly name: string;
  /** The node that led here. */
  readonly from?: Node;
}

/** The most objects that are visited for one relationship. */
const MAX_NODES = 10_000;
const PARALLEL_WALKS = 16;
/** Of each walk. */
const PARALLEL_READS = 8;

/**
 * The path of a cycle that these updates would close, from and to the same `type:id#name`;
 * undefined if there is none.
 *
 * @param read the stored relationships; the updates are applied on top of them
 * @throws AuthzError RESOURCE_EXHAUSTED if too many objects must be visited
 */
export async function findClosedCycle(
  model: Model,
  updates: readonly RelationshipUpdate[],
  read: ReadSubjects,
): Promise<string[] | undefined> {
  const overlaid = overlay(updates, read);
  const edges = updates
    .filter(({ operation }) => operation !== "DELETE")
    .flatMap(({ relationship }) => newEdges(model, relationship));
  for (let start = 0; start < edges.length; start += PARALLEL_WALKS) {
    const some = edges.slice(start, start + PARALLEL_WALKS);
    const paths = await Promise.all(some.map((edge) => walk(model, edge, overlaid)));
    const path = paths.find((path) => path !== undefined);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The dependencies between members that a relationship adds. */
function newEdges(model: Model, { resource, relation, subject }: Relationship): Node[] {
  const definition = model.definitions.get(resource.type);
  const names = [
    ...(definition?.relations.keys() ?? []),
    ...(definition?.permissions.keys() ?? []),
  ];
  return names.flatMap((name) =>
    memberSteps(model, resource.type, name)
      .filter(({ through }) => through?.relation === relation && leadsTo(through, subject))
      .map(({ target }) => ({
        object: { type: subject.type, id: subject.id },
        name: target.name,
        from: { object: resource, name },
      })),
  );
}

/** Walks from the end of an edge, breadth first, to find its beginning. */
async function walk(model: Model, edge: Node, read: ReadSubjects): Promise<string[] | undefined> {
  const goal = edge.from as Node;
  const leadsToGoal = (type: string, name: string) =>
    reachableMembers(model, type, name).has(`${goal.object.type}#${goal.name}`);
  if (!leadsToGoal(edge.object.type, edge.name)) return undefined;

  const seen = new Set([format(edge)]);
  let level: Node[] = [edge];
  while (level.length > 0) {
    const arrived = level.find((node) => format(node) === format(goal));
    if (arrived !== undefined) return pathTo(arrived);
    const next: Node[] = [];
    for (let start = 0; start < level.length; start += PARALLEL_READS) {
      const some = level.slice(start, start + PARALLEL_READS);
      const found = await Promise.all(
        some.map((node) => successors(model, node, leadsToGoal, read)),
      );
      for (const node of found.flat()) {
        if (seen.has(format(node))) continue;
        seen.add(format(node));
        next.push(node);
      }
      if (seen.size > MAX_NODES) {
        throw new AuthzError(
          "RESOURCE_EXHAUSTED",
          `more than ${MAX_NODES} objects to visit to find out whether the write closes a cycle`,
        );
      }
    }
    level = next;
  }
  return undefined;
}

async function successors(
  model: Model,
  node: Node,
  leadsToGoal: (type: string, name: string) => boolean,
  read: ReadSubjects,
): Promise<Node[]> {
  const { object } = node;
  const steps = memberSteps(model, object.type, node.name).filter(({ target }) =>
    leadsToGoal(target.type, target.name),
  );
  const nodes = await Promise.all(
    steps.map(async ({ through, target }) => {
      const objects = through === undefined ? [object] : await read(object, through);
      return objects.map(({ type, id }) => ({
        object: { type, id },
        name: target.name,
        from: node,
      }));
    }),
  );
  return nodes.flat();
}

/** The stored subjects, as they will be after the updates; each is read once. */
function overlay(updates: readonly RelationshipUpdate[], read: ReadSubjects): ReadSubjects {
  const known = new Map<string, Promise<readonly SubjectReference[]>>();
  return (resource, through) => {
    const key = JSON.stringify([resource.type, resource.id, through]);
    const subjects = known.get(key) ?? changed(updates, resource, through, read(resource, through));
    known.set(key, subjects);
    return subjects;
  };
}

async function changed(
  updates: readonly RelationshipUpdate[],
  resource: ObjectReference,
  through: NonNullable<MemberStep["through"]>,
  stored: Promise<readonly SubjectReference[]>,
): Promise<readonly SubjectReference[]> {
  const subjects = new Map((await stored).map((subject) => [formatSubject(subject), subject]));
  for (const { operation, relationship } of updates) {
    const { resource: changed, relation, subject } = relationship;
    const concerned =
      changed.type === resource.type &&
      changed.id === resource.id &&
      relation === through.relation &&
      leadsTo(through, subject);
    if (!concerned) continue;
    if (operation === "DELETE") subjects.delete(formatSubject(subject));
    else subjects.set(formatSubject(subject), subject);
  }
  return [...subjects.values()];
}

function leadsTo(
  { subjectType, subjectRelation }: NonNullable<MemberStep["through"]>,
  subject: SubjectReference,
): boolean {
  return (
    subjectType === subject.type &&
    (subjectRelation === undefined || subjectRelation === subject.relation)
  );
}

function pathTo(node: Node): string[] {
  const path: string[] = [];
  for (let at: Node | undefined = node; at !== undefined; at = at.from) path.unshift(format(at));
  return path;
}

function format({ object, name }: Node): string {
  return `${object.type}:${object.id}#${name}`;
}

function formatSubject({ type, id, relation = "" }: SubjectReference): string {
  return `${type}:${id}#${relation}`;
}
