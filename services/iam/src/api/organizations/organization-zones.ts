import { type AuthorizationEngine, AuthzError, type SubjectReference } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";

/** The zones of organizations, which exist by what is granted on them and belongs to them. */
export class OrganizationZones {
  readonly #engine: Pick<AuthorizationEngine, "readRelationships" | "writeRelationships">;

  constructor(engine: Pick<AuthorizationEngine, "readRelationships" | "writeRelationships">) {
    this.#engine = engine;
  }

  /**
   * Makes the first owner of a zone. One who is its owner already is left, so that a call that was cut
   * off can be repeated.
   *
   * @returns takes it back
   * @throws ServiceError FAILED_PRECONDITION where somebody else owns the zone
   */
  async makeFirstOwner(
    id: string,
    subject: SubjectReference,
    signal: AbortSignal,
  ): Promise<() => Promise<void>> {
    const relationship = { resource: { type: "zone", id }, relation: "owner", subject };
    const owners = { resourceType: "zone", resourceId: id, relation: "owner" };
    try {
      await this.#engine.writeRelationships(
        {
          updates: [{ operation: "CREATE", relationship }],
          preconditions: [{ kind: "MUST_NOT_MATCH", filter: owners }],
        },
        { signal },
      );
    } catch (error) {
      if (!(error instanceof AuthzError) || error.code !== "FAILED_PRECONDITION") throw error;
      const { type, id: subjectId, relation = "" } = subject;
      const filter = { ...owners, subject: { type, id: subjectId, relation } };
      const { items } = await this.#engine.readRelationships(filter, { pageSize: 1 }, { signal });
      if (items.length > 0) return async () => {};
      throw new ServiceError("FAILED_PRECONDITION", "the zone has an owner", { cause: error });
    }
    return async () => {
      await this.#engine.writeRelationships({ updates: [{ operation: "DELETE", relationship }] });
    };
  }

  /** Whether anybody owns a zone. */
  async hasOwner(id: string, signal: AbortSignal): Promise<boolean> {
    const filter = { resourceType: "zone", resourceId: id, relation: "owner" };
    const page = { pageSize: 1 };
    const read = await this.#engine.readRelationships(filter, page, { signal, newest: true });
    return read.items.length > 0;
  }

  /** An object that belongs to a zone, as `type:id`; undefined if there is none. */
  async anyObject(id: string, signal: AbortSignal): Promise<string | undefined> {
    const filter = { subject: { type: "zone", id } };
    let cursor: string | undefined;
    do {
      const page = cursor === undefined ? {} : { cursor };
      const { items, nextCursor } = await this.#engine.readRelationships(filter, page, {
        signal,
        newest: true,
      });
      const [first] = items;
      if (first !== undefined) return `${first.resource.type}:${first.resource.id}`;
      cursor = nextCursor;
    } while (cursor !== undefined);
    return undefined;
  }
}
