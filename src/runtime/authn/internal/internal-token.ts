import type { Logger } from "../../../common/logger.ts";
import { MIN_TOKEN } from "../../configuration/security-config.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import { FollowedSecret, LOOK_EVERY_MS } from "../../secret/followed-secret.ts";
import { readSecretFile, type SecretReading } from "../../secret/read-secret-file.ts";
import type { AuthenticationRequest, Authenticator, Identity } from "../identity/authenticator.ts";
import { comparableSecret, findSecret } from "./comparable-secret.ts";
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
    // A second value must not be ignored, and an empty one is compared like any other.
    const token = values.length === 1 ? (values[0] as string) : "";
    const identity = this.#tokens.find(token);
    if (identity !== undefined) return identity;
    // It may be in a file that was just written.
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

/** The requirements for a token in a file. */
const TOKEN_RULES = { minLength: MIN_TOKEN, inHeader: true } as const;

/** Reads the file of a token; without text and without a problem, it was not read. */
export type TokenFileReader = (file: string) => Partial<SecretReading>;

/** Reads it when a configuration is checked. */
export const readTokenFile: TokenFileReader = (file) => readSecretFile(file, TOKEN_RULES);

/**
 * How long the previous token of a file stays valid, in milliseconds: callers read their files at
 * other times. Together with the time until a change is detected this is well below a minute.
 */
const OVERLAP_MS = 30_000;
/** How often an unknown token may cause a read of the files, in milliseconds. */
const LOOK_AGAIN_MS = 1000;
const NONE: readonly string[] = Object.freeze([]);

/** The options of a table. */
export interface TokenTableOptions {
  readonly logger?: Logger | undefined;
  readonly events?: RuntimeEvents | undefined;
}

/** A valid token and its end: infinite, unless another one has replaced it. */
interface Accepted {
  readonly source: TokenSource;
  readonly secret: Buffer;
  readonly identity: Identity;
  readonly until: number;
}

/**
 * The tokens that are valid now. Those in files change with the files; replaced ones stay valid a
 * little longer.
 */
export class TokenTable {
  #accepted: readonly Accepted[] = [];
  #secrets: readonly Buffer[] = [];
  /** The token of a call, while it is compared. */
  readonly #presented = comparableSecret("");
  /** When the first of the previous tokens becomes invalid. */
  #nextEnd = Number.POSITIVE_INFINITY;
  readonly #files: readonly FollowedSecret[];
  readonly #timer: NodeJS.Timeout | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @throws Error if the file of a token cannot be used; it says how to fix that */
  constructor(sources: readonly TokenSource[], { logger, events }: TokenTableOptions = {}) {
    const files: FollowedSecret[] = [];
    const callers = new Map<string, string>();
    const accepted: Accepted[] = [];
    for (const source of sources) {
      const identity = identityOf(source);
      let { token } = source;
      if (source.file !== undefined) {
        const followed = new FollowedSecret({
          path: source.file,
          name: `the token file ${source.file}`,
          rules: TOKEN_RULES,
          logger,
          events,
          refuse: (text) => this.#refuse(source, comparableSecret(text)),
          onChange: (text) => this.#replace(source, identity, text),
        });
        files.push(followed);
        token = followed.text;
      }
      // The configuration has refused empty ones; here they would admit callers without a token.
      if (!token) continue;
      const secret = comparableSecret(token);
      const text = secret.toString("latin1");
      const caller = callers.get(text) ?? source.caller;
      if (caller !== source.caller) throw new Error(sameToken(source.caller, caller));
      callers.set(text, caller);
      accepted.push({ source, secret, identity, until: Number.POSITIVE_INFINITY });
    }
    this.#files = files;
    this.#accept(accepted);
    if (files.length === 0) return;
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** The caller of a token; undefined if it is not valid. */
  find(token: string): Identity | undefined {
    if (performance.now() >= this.#nextEnd) this.#accept(this.#accepted);
    const presented = comparableSecret(token, this.#presented);
    return this.#accepted[findSecret(presented, this.#secrets)]?.identity;
  }

  /** Reads the files, for an unknown token; undefined if that was just done, or there are none. */
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

  /** A token must not belong to two callers, which could not be distinguished. */
  #refuse(source: TokenSource, secret: Buffer): string | undefined {
    const same = this.#accepted.filter((one) => findSecret(secret, [one.secret]) >= 0);
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
      { source, secret: comparableSecret(token), identity, until },
    ]);
  }

  /** Keeps the tokens that are still valid. */
  #accept(tokens: readonly Accepted[]): void {
    const now = performance.now();
    this.#accepted = tokens.filter(({ until }) => until > now);
    this.#secrets = this.#accepted.map(({ secret }) => secret);
    this.#nextEnd = Math.min(...this.#accepted.map(({ until }) => until), Number.POSITIVE_INFINITY);
  }
}

function sameToken(one: string, other: string): string {
  return `the internal tokens of ${one} and ${other} are the same; each caller needs its own`;
}

/** Shared by all calls of the caller, so it must not be changed. */
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
