import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConsistencySchema } from "../../gen/proto/svc/iam/v1/relationship_pb.ts";
import type { Revision } from "../engine/requests.ts";

type Consistency = MessageInitShape<typeof ConsistencySchema>;

/** How fresh a read must be, as IAM gets it. */
export interface ReadAt {
  /** Absent: IAM's default. */
  readonly consistency: Consistency | undefined;
  /** Whether this engine, and not its caller, named the revision. */
  readonly isOwn: boolean;
  /** Takes the revision of the answer. */
  readonly seen: (revision: Revision) => void;
}

const MAX_OLDER = 1000;
const NEWEST = { case: "fullyConsistent", value: true } as const;

/**
 * The state of the last write of this process, which each of its reads must see, at whichever
 * replica of IAM.
 *
 * Revisions have no order that we can see. So if it is unknown which of two is newer, the newest
 * state is asked for.
 */
export class KnownRevision {
  #known: Revision | undefined;
  /** Whether there was a write whose revision, or whose order, is not known. */
  #isUncertain = false;
  /** Revisions that the known one is at least as fresh as. */
  readonly #older = new Set<Revision>();
  /** Counts writes: answers to reads that began before are not adopted. */
  #generation = 0;

  /** How to read, at least as fresh as a revision that the caller gives, if any. */
  read(given: Revision | undefined, newest = false): ReadAt {
    const covers = given === undefined || given === this.#known || this.#older.has(given);
    const isUnordered = this.#isUncertain || (!covers && this.#known !== undefined);
    if (newest || isUnordered) return this.#newest(given);
    const revision = this.#known ?? given;
    return {
      consistency: revision === undefined ? undefined : atLeastAsFresh(revision),
      isOwn: revision !== undefined && revision !== given,
      seen: () => undefined,
    };
  }

  /** Begins a write. Call the returned function with its revision, or without one if that is not known. */
  write(): (revision?: Revision) => void {
    const generation = this.#generation;
    return (revision) => {
      const isAlone = generation === this.#generation;
      this.#generation++;
      if (this.#known !== undefined) this.#remember(this.#known);
      this.#known = isAlone ? revision : undefined;
      this.#isUncertain = this.#known === undefined;
    };
  }

  /**
   * How to read where the known revision was refused: if that succeeds, IAM has lost that state, as
   * after a restore.
   */
  readWithoutKnown(given: Revision | undefined): ReadAt {
    const { consistency } = this.#newest(given);
    const lost = this.#known;
    const seen = (revision: Revision) => {
      if (this.#known !== lost) return;
      this.#known = revision;
      // What was lost is not covered by what is there now.
      this.#older.clear();
    };
    return { consistency, isOwn: false, seen };
  }

  #newest(given: Revision | undefined): ReadAt {
    const generation = this.#generation;
    const known = this.#known;
    return {
      // IAM refuses a revision that is not one of its own.
      consistency: {
        requirement: NEWEST,
        ...(given === undefined ? {} : { besideRevision: given }),
      },
      isOwn: false,
      seen: (revision) => {
        if (generation !== this.#generation || known !== this.#known) return;
        for (const older of [known, given]) if (older !== undefined) this.#remember(older);
        this.#known = revision;
        this.#isUncertain = false;
      },
    };
  }

  #remember(revision: Revision): void {
    this.#older.add(revision);
    if (this.#older.size <= MAX_OLDER) return;
    const [oldest] = this.#older;
    this.#older.delete(oldest as Revision);
  }
}

function atLeastAsFresh(revision: Revision): Consistency {
  return { requirement: { case: "atLeastAsFresh", value: revision } };
}
