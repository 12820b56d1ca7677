import { WILDCARD } from "../../../model/object-id.ts";
import type {
  ObjectReference,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "../../../model/relationship.ts";
import { hasMember } from "../../../model/schema/dependencies.ts";
import { CHUNK } from "../client/check-calls.ts";
import { atExactly } from "../client/freshness.ts";
import { fromRelationship } from "../client/messages.ts";
import type { SpicedbSession } from "../client/session.ts";
import { readStored } from "../client/stored-relationships.ts";
import { decide } from "../workarounds/failed-bulk-checks.ts";

/** The reads of an explanation from SpiceDB, all at the state of the decision. */
export class ExplainReads {
  readonly #session: SpicedbSession;
  readonly #subject: SubjectReference;
  readonly #at: ReturnType<typeof atExactly>;
  readonly #signal: AbortSignal | undefined;

  constructor(
    session: SpicedbSession,
    subject: SubjectReference,
    zedToken: string,
    signal: AbortSignal | undefined,
  ) {
    this.#session = session;
    this.#subject = subject;
    this.#at = atExactly(zedToken);
    this.#signal = signal;
  }

  /** The stored relationship that names the subject, or all of its type; the others may be too many. */
  async direct(resource: ObjectReference, name: string): Promise<Relationship | undefined> {
    if (this.#session.validator.isUnknownCaller(this.#subject)) return undefined;
    const { type, id, relation = "" } = this.#subject;
    const [named] = await this.read(resource, name, { type, id, relation });
    if (named !== undefined || relation !== "") return named;
    const [all] = await this.read(resource, name, { type, id: WILDCARD });
    return all;
  }

  /** The stored relationships of a relation whose subjects are usersets. */
  async usersets(resource: ObjectReference, name: string): Promise<Relationship[]> {
    const found: Relationship[] = [];
    const declared = this.#session.model.definitions.get(resource.type)?.relations.get(name);
    for (const { type, relation } of declared?.subjects ?? []) {
      if (relation !== undefined)
        found.push(...(await this.read(resource, name, { type, relation })));
    }
    return found;
  }

  /**
   * Which of these usersets contain the subject: SpiceDB decides, so that only the deciding ones
   * are walked.
   */
  async granted(usersets: readonly SubjectReference[]): Promise<boolean[]> {
    const { model, validator } = this.#session;
    const granted = usersets.map(() => false);
    if (validator.isUnknownCaller(this.#subject)) return granted;
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

  /** The stored relationships of a relation, of all subjects or of the given ones. */
  async read(
    resource: ObjectReference,
    relation: string,
    subject?: RelationshipFilter["subject"],
  ): Promise<Relationship[]> {
    const filter = {
      ...{ resourceType: resource.type, resourceId: resource.id, relation },
      ...(subject === undefined ? {} : { subject }),
    };
    const stored = await readStored(this.#session, filter, this.#at, this.#signal);
    return stored.map(({ relationship }) => fromRelationship(relationship));
  }
}
