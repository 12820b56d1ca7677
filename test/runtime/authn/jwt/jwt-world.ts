import type { AuthenticatorDependencies } from "../../../../src/runtime/authn/create-authenticators.ts";
import { identificationStages } from "../../../../src/runtime/authn/identification-stages.ts";
import { MemoryRevocationList } from "../../../../src/runtime/authn/jwt/revocation-list.ts";
import {
  createTokenVerifier,
  type TokenVerifier,
} from "../../../../src/runtime/authn/jwt/token-verifier.ts";
import type { Call } from "../../../../src/runtime/call/call.ts";
import {
  callOf,
  configOf,
  outcomeOf,
  recordEvents,
  recordLog,
  type SentHeaders,
  type TestCall,
} from "../calls.ts";
import { KeyServer } from "./key-server.ts";
import { rsaKey, type SigningKey, signToken } from "./tokens.ts";

/** A provider, a service that verifies its tokens, and a fixed clock. */
export class JwtWorld {
  readonly server: KeyServer;
  readonly key: SigningKey;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  time = 1_800_000_000_000;
  readonly reported: string[];
  readonly warnings: object[];
  /** Verifies tokens by the same configuration, with keys of its own. */
  readonly verifier: TokenVerifier;
  readonly #stages: ReturnType<typeof identificationStages>;

  private constructor(
    server: KeyServer,
    key: SigningKey,
    authn: Record<string, unknown>,
    more: Partial<AuthenticatorDependencies>,
    path: string,
  ) {
    this.issuer = `${server.url}${path}`;
    this.server = server;
    this.key = key;
    const { events, reported } = recordEvents();
    const { logger, warnings } = recordLog();
    this.reported = reported;
    this.warnings = warnings;
    const { oidc, ...rest } = authn as { oidc?: object };
    const config = configOf({
      mode: "idp_jwt",
      gateway: { trusted_peers: ["10.1.2.0/24"] },
      oidc: {
        issuer: this.issuer,
        ...(path === "" ? {} : { jwks_url: `${server.url}/keys` }),
        audience: ["client"],
        ...oidc,
      },
      ...rest,
    });
    const now = () => this.time;
    this.#stages = identificationStages(config, { events, logger, now, ...more });
    const { revocations = new MemoryRevocationList() } = more;
    this.verifier = createTokenVerifier(config, { revocations, logger, now });
  }

  static async create(
    authn: Record<string, unknown> = {},
    more: Partial<AuthenticatorDependencies> = {},
    key: SigningKey = SHARED_KEY,
    /** The path of the issuer. */
    path = "",
  ): Promise<JwtWorld> {
    const server = await new KeyServer().start();
    server.keys = [key.jwk];
    return new JwtWorld(server, key, authn, more, path);
  }

  /** Seconds since the epoch. */
  get seconds(): number {
    return this.time / 1000;
  }

  /** Valid claims, with changes. */
  claims(changes: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      iss: this.issuer,
      aud: "client",
      sub: "alice",
      iat: this.seconds - 10,
      exp: this.seconds + 3600,
      ...changes,
    };
  }

  token(changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}): string {
    return signToken(this.key, this.claims(changes), header);
  }

  call(token: string | undefined, test: TestCall = {}): Call {
    const bearer: SentHeaders = token === undefined ? [] : [["authorization", `Bearer ${token}`]];
    return callOf({ ...test, headers: [...bearer, ...(test.headers ?? [])] });
  }

  run(call: Call): void | Promise<void> {
    this.#stages.contextInjection(call);
    this.#stages.requestInfo(call);
    this.#stages.metadata(call);
    return this.#stages.authentication(call);
  }

  /** The outcome of a call with a token. */
  outcome(token: string | undefined, test: TestCall = {}): Promise<string> {
    const call = this.call(token, test);
    return outcomeOf(() => this.run(call));
  }

  close(): Promise<void> {
    return this.server.stop();
  }
}

/** Generating one is slow. */
export const SHARED_KEY = rsaKey("key-1");
