import type { RevocableToken } from "../authn/jwt/revocation-list.ts";
import type { Revocation } from "./revocation.ts";

/** When a subject's revocation may be forgotten, and which of its tokens it is about. */
interface KeptSubject {
  readonly issuedUntil: number;
  readonly keepUntil: number;
}

/** A bounded set of revocations. It never drops one by itself. */
export class RevocationSet {
  readonly #capacity: number;
  /** When each may be forgotten. */
  readonly #sessions = new Map<string, number>();
  readonly #tokens = new Map<string, number>();
  readonly #subjects = new Map<string, KeptSubject>();

  /** @param capacity how many revocations it holds */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#sessions.size + this.#tokens.size + this.#subjects.size;
  }

  /**
   * Adds a revocation; one that is known already only counts longer, or for more tokens.
   *
   * @returns what changed: `nothing` if all of it was known, `full` if there is no room for it
   */
  add(revocation: Revocation): "added" | "nothing" | "full" {
    const { keepUntil } = revocation;
    if ("sessionId" in revocation) {
      return this.#keep(this.#sessions, revocation.sessionId, keepUntil);
    }
    if ("tokenId" in revocation) return this.#keep(this.#tokens, revocation.tokenId, keepUntil);
    const { type, id, issuedUntil } = revocation.subject;
    const key = subjectKey(type, id);
    const known = this.#subjects.get(key);
    if (known === undefined && this.#isFull()) return "full";
    const next = {
      issuedUntil: Math.max(issuedUntil, known?.issuedUntil ?? issuedUntil),
      keepUntil: Math.max(keepUntil, known?.keepUntil ?? keepUntil),
    };
    if (next.issuedUntil === known?.issuedUntil && next.keepUntil === known.keepUntil) {
      return "nothing";
    }
    this.#subjects.set(key, next);
    return "added";
  }

  /** Whether a token is revoked. */
  isRevoked({ id, sessionId, subject, subjectType, iat }: RevocableToken): boolean {
    if (id !== undefined && this.#tokens.has(id)) return true;
    if (sessionId !== undefined && this.#sessions.has(sessionId)) return true;
    if (this.#subjects.size === 0) return false;
    const revoked = this.#subjects.get(subjectKey(subjectType, subject));
    return revoked !== undefined && iat <= revoked.issuedUntil;
  }

  /** Forgets the revocations that need not be kept at a time. */
  forget(time: number): void {
    for (const [id, keepUntil] of this.#sessions) {
      if (keepUntil <= time) this.#sessions.delete(id);
    }
    for (const [id, keepUntil] of this.#tokens) if (keepUntil <= time) this.#tokens.delete(id);
    for (const [key, { keepUntil }] of this.#subjects) {
      if (keepUntil <= time) this.#subjects.delete(key);
    }
  }

  /** All of them. */
  *[Symbol.iterator](): Generator<Revocation> {
    for (const [sessionId, keepUntil] of this.#sessions) yield { sessionId, keepUntil };
    for (const [tokenId, keepUntil] of this.#tokens) yield { tokenId, keepUntil };
    for (const [key, { issuedUntil, keepUntil }] of this.#subjects) {
      const space = key.indexOf(" ");
      const type = key.slice(0, space) as "user" | "service_account";
      yield { subject: { type, id: key.slice(space + 1), issuedUntil }, keepUntil };
    }
  }

  #keep(kept: Map<string, number>, id: string, keepUntil: number): "added" | "nothing" | "full" {
    const known = kept.get(id);
    if (known !== undefined && known >= keepUntil) return "nothing";
    if (known === undefined && this.#isFull()) return "full";
    kept.set(id, keepUntil);
    return "added";
  }

  #isFull(): boolean {
    return this.size >= this.#capacity;
  }
}

/** No subject type has a space, so no two subjects have the same key. */
function subjectKey(type: string, id: string): string {
  return `${type} ${id}`;
}
