import { hash, timingSafeEqual } from "node:crypto";
import type { Logger } from "../../../common/logger.ts";
import { MIN_TOKEN } from "../../configuration/security-config.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import { FollowedSecret, LOOK_EVERY_MS } from "../../secret/followed-secret.ts";
import type { AuthenticationRequest, Authenticator, Identity } from "../identity/authenticator.ts";
import type { TokenSource } from "./token-sources.ts";

/** Recognises other services, and the system, by their secret tokens. */
export class InternalTokenAuthenticator implements Authenticator {
  readonly name = "internal";
  readonly #header: string;
  readonly #tokens: TokenTable;

  constructor(header: string, tokens: TokenTable) {
    this.#header = header.toLowerCase();
    this.#tokens = tokens;
  }

  authenticate({ headers }: AuthenticationRequest): Identity | undefined | Promise<Identity> {
    const values = headers.all(this.#header);
    if (values.length === 0) return undefined;
    // A second value must not be passed over, and an empty one is compared as any other.
    const token = values.length === 1 ? (values[0] as string) : "";
    const identity = this.#tokens.find(token);
    if (identity !== undefined) return identity;
    // It may be in a file that was written only just now.
    const looked = this.#tokens.lookAgain();
    if (looked === undefined) throw wrongToken();
    return looked.then(() => {
      const found = this.#tokens.find(token);
      if (found === undefined) throw wrongToken();
      return found;
    });
  }
}

function wrongToken(): ServiceError {
  return new ServiceError("UNAUTHORIZED", "wrong internal token");
}

/** What a token in a file must be. */
export const TOKEN_RULES = { minLength: MIN_TOKEN, inHeader: true } as const;

/**
 * How long the former token of a file still counts, in milliseconds: callers read their files
 * at other moments. With the time until a change is seen this is well below a minute.
 */
const OVERLAP_MS = 30_000;
/** How often a wrong token may have the files read, in milliseconds. */
const LOOK_AGAIN_MS = 1000;
const NONE: readonly string[] = Object.freeze([]);

/** What a table is made with. */
export interface TokenTableOptions {
  readonly logger?: Logger | undefined;
  readonly events?: RuntimeEvents | undefined;
}

/** A token that counts, and until when: for ever, unless another took its place. */
interface Accepted {
  readonly source: TokenSource;
  readonly digest: Buffer;
  readonly identity: Identity;
  readonly until: number;
}

/** The tokens that count now. Those in files change with them; what was replaced counts a little longer. */
export class TokenTable {
  #accepted: readonly Accepted[] = [];
  #digests: readonly Buffer[] = [];
  /** When the first of the former tokens no longer counts. */
  #nextEnd = Number.POSITIVE_INFINITY;
  readonly #files: readonly FollowedSecret[];
  readonly #timer: NodeJS.Timeout | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @throws Error where the file of a token cannot be used; it says how to fix that */
  constructor(sources: readonly TokenSource[], { logger, events }: TokenTableOptions = {}) {
    const files: FollowedSecret[] = [];
    const callers = new Map<string, string>();
    const accepted: Accepted[] = [];
    for (const source of sources) {
      const identity = identityOf(source);
      let { token } = source;
      if (source.file !== undefined) {
        const secret = new FollowedSecret({
          path: source.file,
          name: `the token file ${source.file}`,
          rules: TOKEN_RULES,
          logger,
          events,
          refuse: (text) => this.#refuse(source, digestOf(text)),
          onChange: (text) => this.#replace(source, identity, text),
        });
        files.push(secret);
        token = secret.text;
      }
      // The configuration has refused empty ones; here they would let in whoever sends nothing.
      if (!token) continue;
      const digest = digestOf(token);
      const caller = callers.get(digest.toString("hex")) ?? source.caller;
      if (caller !== source.caller) throw new Error(sameToken(source.caller, caller));
      callers.set(digest.toString("hex"), caller);
      accepted.push({ source, digest, identity, until: Number.POSITIVE_INFINITY });
    }
    this.#files = files;
    this.#accept(accepted);
    if (files.length === 0) return;
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Who calls with a token; undefined where it does not count. */
  find(token: string): Identity | undefined {
    if (performance.now() >= this.#nextEnd) this.#accept(this.#accepted);
    return this.#accepted[findDigest(digestOf(token), this.#digests)]?.identity;
  }

  /** Reads the files, for a token that is not known; undefined where that was done only just now, or there are none. */
  lookAgain(): Promise<void> | undefined {
    if (this.#files.length === 0) return undefined;
    if (performance.now() - this.#lookedAt < LOOK_AGAIN_MS) return undefined;
    return this.#look();
  }

  /** Ends the reading of files. */
  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    this.#lookedAt = performance.now();
    await Promise.all(this.#files.map((file) => file.look()));
  }

  /** A token must not mean two callers: nobody could say which of them calls. */
  #refuse(source: TokenSource, digest: Buffer): string | undefined {
    const same = this.#accepted.filter((one) => findDigest(digest, [one.digest]) >= 0);
    const other = same.find(({ source: { caller } }) => caller !== source.caller);
    if (other === undefined) return undefined;
    return `has the token of ${other.source.caller}; each caller needs its own`;
  }

  #replace(source: TokenSource, identity: Identity, token: string): void {
    const now = performance.now();
    const until = Number.POSITIVE_INFINITY;
    this.#accept([
      ...this.#accepted.map((one) =>
        one.source === source && one.until === until ? { ...one, until: now + OVERLAP_MS } : one,
      ),
      { source, digest: digestOf(token), identity, until },
    ]);
  }

  /** Takes what counts still. */
  #accept(tokens: readonly Accepted[]): void {
    const now = performance.now();
    this.#accepted = tokens.filter(({ until }) => until > now);
    this.#digests = this.#accepted.map(({ digest }) => digest);
    this.#nextEnd = Math.min(...this.#accepted.map(({ until }) => until), Number.POSITIVE_INFINITY);
  }
}

function sameToken(one: string, other: string): string {
  return `the internal tokens of ${one} and ${other} are the same; each caller needs its own`;
}

/** Of all calls of the caller, so nobody may change it. */
function identityOf({ caller, credential }: TokenSource): Identity {
  return Object.freeze({
    credential,
    principal: Object.freeze({
      subjectId: caller,
      subjectType: "service",
      username: caller,
      name: "",
      email: "",
      organizationId: "",
      groups: NONE,
      roles: NONE,
      scopes: NONE,
      source: "internal",
    }),
  });
}

/** What stands for a secret in comparisons: all have one length, and none tells anything of the secret. */
export function digestOf(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

/**
 * The place of the secret that has this digest among others; -1 where it is none.
 * All are looked at, so that the time tells neither whether nor where it was found.
 */
export function findDigest(digest: Buffer, accepted: readonly Buffer[]): number {
  let found = -1;
  for (let index = 0; index < accepted.length; index++) {
    const equal = timingSafeEqual(digest, accepted[index] as Buffer);
    found = equal ? index : found;
  }
  return found;
}
