import type { AuditRecorder, CallContext } from "svc-access/runtime";
import { type BootstrapLink, type BootstrapLinks, GRACE_MS } from "./bootstrap-links.ts";
import type { LinkClaims } from "./link-claims.ts";
import { resumeEach } from "./resume-each.ts";
import type { UsedLinks } from "./used-links.ts";
import type { ZoneOwners } from "./zone-owners.ts";

/** What became of a login by a link. */
export type FirstOwnerResult = "made" | "owned" | "dead";

/** What making the first owner needs. */
export interface FirstOwnerOptions {
  readonly links: Pick<BootstrapLinks, "begun">;
  readonly claims: LinkClaims;
  readonly owners: ZoneOwners;
  readonly used: UsedLinks;
  /** For owners whom the job completes. */
  readonly recorder: Pick<AuditRecorder, "record">;
}

/** The call of a login. */
export interface FirstOwnerCall extends Pick<CallContext, "signal"> {
  readonly audit: Pick<AuditRecorder, "record">;
}

/**
 * Makes whoever has logged in by a link the owner, and records that where it has.
 *
 * Who has logged in is stored with the link before the engine is asked. The engine stores the owner together with a
 * mark of the link, which is removed when the event is stored and the link has ended. So a mark says that a link has
 * made its user the owner, and that this may not be recorded: another login of the same person by this link, or the
 * job, continues from there. An owner without a mark was made by something else.
 */
export class FirstOwner {
  readonly #options: FirstOwnerOptions;

  constructor(options: FirstOwnerOptions) {
    this.#options = options;
  }

  /** @throws AuthzError, DatabaseError, ServiceError: the link can be used again by this user */
  async make(
    link: BootstrapLink,
    userId: string,
    { signal, audit }: FirstOwnerCall,
  ): Promise<FirstOwnerResult> {
    const { claims, owners } = this.#options;
    const { zone, hash } = link;
    if (!(await claims.claim(link, userId))) {
      const isLate = !link.isClaimed && (await owners.hasOwner(zone, signal));
      return isLate ? "owned" : "dead";
    }
    const isMade =
      (await owners.makeFirstOwner(zone, userId, signal, hash)) ||
      // An earlier login by this link has, or one at the same moment.
      (await owners.hasMark(hash, userId, signal));
    if (isMade) {
      await this.#record(link, userId, { signal, audit });
      // The job repeats it.
      await this.#settle(hash, userId, signal).catch(() => undefined);
      return "made";
    }
    // One at the same moment was faster, and has removed its mark.
    if (await claims.isUsedBy(link, userId)) return "made";
    await claims.giveUp(hash);
    return "owned";
  }

  /** Completes what a process has begun that has ended, and forgets what came to nothing. */
  async resume(signal: AbortSignal, now = Date.now()): Promise<void> {
    const begun = await this.#options.links.begun();
    await resumeEach(begun, signal, (link) => this.#resume(link, signal, now));
  }

  async #resume(link: BootstrapLink, signal: AbortSignal, now: number): Promise<void> {
    const { claims, owners, recorder } = this.#options;
    const { accountId, hash, expireTime, isUsed, isClaimed } = link;
    if (!isClaimed) return;
    if (isUsed) {
      await this.#settle(hash, accountId, signal);
    } else if (await owners.hasMark(hash, accountId, signal)) {
      await this.#record(link, accountId, { signal, audit: recorder });
      await this.#settle(hash, accountId, signal);
    } else if (expireTime + GRACE_MS < now) {
      await claims.giveUp(hash);
    }
  }

  /** Stores the event. Then the link has ended, and nobody can use the others of the zone. */
  async #record(
    link: BootstrapLink,
    userId: string,
    { signal, audit }: FirstOwnerCall,
  ): Promise<void> {
    const { claims, owners, used } = this.#options;
    await used.record(link, userId, audit);
    // In this order: one that somebody logs in by meanwhile is among those that are claimed.
    await claims.blockOthers(link.zone);
    for (const { hash, accountId } of await claims.open(link.zone)) {
      // One with a mark has made its user the owner before, which is not recorded yet.
      const isOther = hash !== link.hash && !(await owners.hasMark(hash, accountId, signal));
      if (isOther) await claims.giveUp(hash);
    }
    await claims.use(link.hash);
  }

  async #settle(hash: string, userId: string, signal: AbortSignal): Promise<void> {
    const { claims, owners } = this.#options;
    await owners.removeMark(hash, userId, signal);
    await claims.settle(hash);
  }
}
