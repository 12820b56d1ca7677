import type {
  CheckRequest,
  ObjectReference,
  Precondition,
  SubjectReference,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { unique } from "./decided-path.ts";
import type { EngineReads } from "./engine-reads.ts";
import type { Places } from "./places.ts";
import { objectText } from "./relationships.ts";
import { isRank, type Rank, type RightsModel } from "./rights-model.ts";

/** Whom it is decided for. */
export interface Caller {
  readonly subjectType: string;
  readonly subjectId: string;
}

/** A relation of an object. */
export interface ObjectRelation {
  readonly object: ObjectReference;
  readonly relation: string;
}

/** The most preconditions of a path: a write has at most 1,000, and others beside these. */
const MOST_KEPT = 900;

/** Who may grant a relation by rank: whoever holds one of these. */
export const GRANTED_BY: Readonly<Record<Rank, readonly Rank[]>> = {
  owner: ["owner"],
  admin: ["owner", "admin"],
};

/** What one caller may write. */
export class CallerRights {
  readonly #model: RightsModel;
  readonly #reads: EngineReads;
  readonly #places: Places;
  readonly #subject: SubjectReference;
  readonly #ranks = new Map<string, Promise<boolean>>();
  /** The checks that have allowed something. */
  readonly #relied = new Map<string, CheckRequest>();

  constructor(caller: Caller, model: RightsModel, reads: EngineReads, places: Places) {
    this.#model = model;
    this.#reads = reads;
    this.#places = places;
    this.#subject = { type: caller.subjectType, id: caller.subjectId };
  }

  /** The first of these relations that the caller may not write; undefined if there is none. */
  async firstRefused<Of extends ObjectRelation>(relations: readonly Of[]): Promise<Of | undefined> {
    const wanted = new Map<string, { readonly check: CheckRequest; readonly of: Of }>();
    for (const of of relations) {
      const { object: resource, relation } = of;
      const permission = this.#model.writePermission({ type: resource.type, relation });
      if (permission === undefined) return of;
      const key = `${resource.type}:${resource.id}#${permission}`;
      wanted.set(key, { check: { resource, permission, subject: this.#subject }, of });
    }
    const asked = [...wanted.values()];
    const allowed = await this.#reads.checkAll(asked.map(({ check }) => check));
    const refused = asked.find((_, index) => allowed[index] !== true);
    if (refused !== undefined) return refused.of;
    for (const { check } of asked) this.rely(check);
    for (const of of relations) {
      if (isRank(of.relation) && !(await this.mayRank(of.object, of.relation))) return of;
    }
    return undefined;
  }

  /** Whether the caller may grant and revoke a relation by rank on an object. */
  mayRank(object: ObjectReference, rank: Rank): Promise<boolean> {
    const key = `${object.type}:${object.id}#${rank}`;
    const known = this.#ranks.get(key) ?? this.#holds(this.#subject, object, rank);
    this.#ranks.set(key, known);
    return known;
  }

  /** Whether a subject holds what grants a rank: on the object, its zone or any parent above it. */
  async #holds(subject: SubjectReference, object: ObjectReference, rank: Rank): Promise<boolean> {
    const places = await this.#places.upFrom(object);
    const checks = places.flatMap((resource) =>
      GRANTED_BY[rank]
        .filter((relation) => this.#model.hasRelation({ type: resource.type, relation }))
        .map((permission) => ({ resource, permission, subject })),
    );
    const held = checks[(await this.#reads.checkAll(checks)).indexOf(true)];
    if (held !== undefined) this.rely(held);
    return held !== undefined;
  }

  /** Has the path of a check that allows something be a part of the write. */
  rely(check: CheckRequest): void {
    const { resource, permission } = check;
    this.#relied.set(`${objectText(resource)}#${permission}`, check);
  }

  /**
   * By which relationships the caller holds what the decisions have relied on. If these are more than a write can have,
   * it is all decided once more, in the newest state, so this is asked right before the write.
   *
   * @throws ServiceError FORBIDDEN if it was lost meanwhile
   */
  async path(): Promise<readonly Precondition[]> {
    const relied = [...this.#relied.values()];
    const paths = await this.#reads.paths(this.#model, relied);
    assertHeld(paths.map(({ allowed }) => allowed));
    const kept = unique(paths.flatMap(({ preconditions }) => preconditions));
    if (kept.length > MOST_KEPT) assertHeld(await this.#reads.checkNewest(relied));
    return kept.slice(0, MOST_KEPT);
  }
}

function assertHeld(decisions: readonly boolean[]): void {
  if (!decisions.includes(false)) return;
  throw new ServiceError("FORBIDDEN", "permission denied: a right was revoked meanwhile");
}
