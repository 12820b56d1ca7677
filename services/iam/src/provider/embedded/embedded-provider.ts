import type { ServerResponse } from "node:http";
import type { Provider } from "oidc-provider";
import { type CallContext, type RawRequest, ServiceError } from "svc-access/runtime";
import type { SessionClient } from "../../sessions/login-session.ts";
import { Revocations } from "../../sessions/revocations.ts";
import { Sessions } from "../../sessions/sessions.ts";
import { DatabaseUnavailable, ProviderDatabase } from "../../store/provider-database.ts";
import { ProviderDocuments } from "../../store/provider-documents.ts";
import type { Rotation } from "../../store/provider-keys.ts";
import { createInstance } from "./create-instance.ts";
import { type EmbeddedProviderOptions, PROVIDER_PATH } from "./embedded-options.ts";
import { freshRequest } from "./fresh-request.ts";
import { looksLikeJwt, presentAccessToken } from "./presented-access-token.ts";
import { recordEvent } from "./record-event.ts";
import { type RequestScope, requestScope } from "./request-scope.ts";
import { type SigningKey, SigningKeys } from "./signing-keys.ts";

/** A provider with the keys of a moment. */
interface Instance {
  readonly version: string;
  readonly provider: Provider;
  readonly keys: readonly SigningKey[];
  readonly callback: (request: object, response: object) => Promise<void>;
}

/** What the provider needs of a request. */
export interface ProviderRequest
  extends Pick<RawRequest, "incoming" | "response" | "method" | "path" | "body"> {
  readonly headers: Pick<RawRequest["headers"], "all">;
}

/** Something that is done again and again while the service runs. */
export interface ProviderJob {
  /** Its name in logs. */
  readonly name: string;
  readonly everyMs: number;
  run(signal: AbortSignal): Promise<void>;
}

/** How often other replicas' keys are looked for: far more often than keys are published before they sign. */
const LOOK_FOR_KEYS_MS = 30_000;
const MAINTAIN_KEYS_MS = 600_000;
const CLEAN_UP_MS = 60_000;
const CLEAN_UP_BATCH = 500;
/** Endpoints that take an access token, which may be a JWT. */
const TOKEN_ENDPOINTS: ReadonlySet<string> = new Set(["/token/introspection", "/token/revocation"]);
/** What public pages of other origins may read, and browsers keep for a while. */
const CACHEABLE = /^\/(?:jwks|\.well-known\/[a-z-]+)$/;

/**
 * The embedded OpenID provider: `oidc-provider` over the local accounts. Its state is in the database, so
 * that it survives restarts and replicas share it.
 *
 * @example
 * ```ts
 * const provider = new EmbeddedProvider(options);
 * const server = await createServer({ configuration, bindings, rawHandlers: [providerHandler(provider)] });
 * ```
 */
export class EmbeddedProvider {
  readonly #options: EmbeddedProviderOptions;
  /** The logins of people. */
  readonly sessions: Sessions;
  /** The tokens that no longer count. */
  readonly revocations: Revocations;
  readonly #documents: ProviderDocuments;
  readonly #keys: SigningKeys;
  #instance: Promise<Instance> | undefined;

  constructor(options: EmbeddedProviderOptions) {
    const { database, box, now, keyTimes } = options;
    this.#options = options;
    const opened = new ProviderDatabase(database);
    this.#documents = new ProviderDocuments(opened, now);
    this.revocations = new Revocations(opened, now);
    this.sessions = new Sessions(opened, this.revocations, now);
    const events = {
      keyMade: (kid: string) =>
        recordEvent(options, { event: "signing_key.made", riskLevel: "MEDIUM", details: { kid } }),
      keyRotated: (kid: string, retired = "") =>
        recordEvent(options, {
          event: "signing_key.rotated",
          riskLevel: "MEDIUM",
          details: { kid, retired },
        }),
    };
    this.#keys = new SigningKeys(opened, box, events, {
      ...(keyTimes === undefined ? {} : { times: keyTimes }),
      ...(now === undefined ? {} : { now }),
    });
  }

  /** The issuer of the tokens. */
  get issuer(): string {
    return `${this.#options.publicUrl}${PROVIDER_PATH}`;
  }

  /** The options that it was made with. */
  get options(): EmbeddedProviderOptions {
    return this.#options;
  }

  /** Loads `oidc-provider`, half a second, and makes the first keys. Otherwise the first request does. */
  async load(): Promise<void> {
    await this.current();
  }

  /** The key set (RFC 7517) that its tokens are verified with. */
  async keySet(): Promise<{ readonly keys: readonly object[] }> {
    const { keys } = await this.current();
    return { keys: keys.map(({ kty, n, e, kid, alg, use }) => ({ kty, n, e, kid, alg, use })) };
  }

  /**
   * Lets the next signing key sign.
   *
   * @param options.isUrgent also if verifiers may not know it yet
   */
  async rotateSigningKey(options: { readonly isUrgent?: boolean } = {}): Promise<Rotation> {
    const rotation = await this.#keys.rotate(options);
    await this.#look();
    return rotation;
  }

  /** What must be done while the service runs; each of it may be done by all replicas. */
  jobs(): readonly ProviderJob[] {
    return [
      { name: "provider keys", everyMs: LOOK_FOR_KEYS_MS, run: () => this.#look() },
      {
        name: "provider key rotation",
        everyMs: MAINTAIN_KEYS_MS,
        run: async () => {
          await this.#keys.maintain();
          await this.#look();
        },
      },
      {
        name: "provider clean-up",
        everyMs: CLEAN_UP_MS,
        run: async (signal) => {
          while (!signal.aborted) {
            const removed = await this.#documents.removeExpired(CLEAN_UP_BATCH);
            if (removed < CLEAN_UP_BATCH) break;
          }
          await this.sessions.removeExpired();
          await this.revocations.removeExpired();
        },
      },
    ];
  }

  /** The provider of the moment. */
  async current(): Promise<Instance> {
    this.#instance ??= this.#make();
    try {
      return await this.#instance;
    } catch (error) {
      this.#instance = undefined;
      throw error instanceof DatabaseUnavailable
        ? new ServiceError("UNAVAILABLE", undefined, { cause: error })
        : error;
    }
  }

  /** Runs work in the scope of a request, and waits for what it records. */
  async within<T>(scope: Omit<RequestScope, "pending">, work: () => Promise<T>): Promise<T> {
    const pending: Promise<unknown>[] = [];
    const result = await requestScope.run({ ...scope, pending }, work);
    await Promise.all(pending);
    return result;
  }

  /**
   * Ends a session, tells the clients that want to know of it, and records it in the audit.
   *
   * @returns false if the account has no such session
   */
  async endSession(id: string, accountId: string): Promise<boolean> {
    const ended = await this.sessions.end(id, accountId);
    if (ended === undefined) return false;
    recordEvent(this.#options, {
      event: "session.ended",
      riskLevel: "MEDIUM",
      accountId,
      details: { kind: ended.kind, clients: ended.clients.length },
    });
    const { provider } = await this.current();
    await Promise.all(ended.clients.map((client) => this.#tell(provider, accountId, client)));
    return true;
  }

  async #tell(provider: Provider, accountId: string, { clientId, sid }: SessionClient) {
    try {
      const client = await provider.Client.find(clientId);
      if (client?.backchannelLogoutUri === undefined) return;
      const { backchannelLogout } = client as unknown as BackchannelClient;
      await backchannelLogout.call(client, accountId, sid);
    } catch (error) {
      const { log } = this.#options;
      log.warn({ err: error, client: clientId }, "a client was not told of a logout");
    }
  }

  /** Answers a request of `oidc-provider` itself, not of the login and consent pages. */
  async handle(request: ProviderRequest, call: CallContext): Promise<undefined> {
    const { incoming, response, method } = request;
    const path = request.path.slice(PROVIDER_PATH.length) || "/";
    const body = method === "POST" ? await request.body() : undefined;
    const instance = await this.current();
    const { presented, sent } = await this.#present(path, body, instance);
    const query = queryOf(incoming.url ?? "");
    const fresh = freshRequest({ incoming, url: `${path}${query}`, body: sent });
    if (!CACHEABLE.test(path)) response.setHeader("Cache-Control", "no-store");
    const userAgent = request.headers.all("user-agent").join();
    const scope = { call, userAgent, ...(presented === undefined ? {} : { presented }) };
    await this.within(scope, () => {
      const ended = hold(response);
      return instance.callback(fresh, response).then(() => ended);
    });
    return undefined;
  }

  /** Replaces a JWT by a handle that `oidc-provider` can look up; it refuses to handle JWTs. */
  async #present(path: string, body: Uint8Array | undefined, { keys }: Instance) {
    if (body === undefined || !TOKEN_ENDPOINTS.has(path)) return { sent: body };
    const parameters = new URLSearchParams(Buffer.from(body).toString("utf8"));
    const [token, ...others] = parameters.getAll("token");
    // Two of them are refused.
    if (token === undefined || others.length > 0 || !looksLikeJwt(token)) return { sent: body };
    const { now = Date.now } = this.#options;
    const { issuer, revocations } = this;
    const presented = await presentAccessToken(token, { issuer, keys, revocations, now });
    // Otherwise nothing is found, as for any token that is not valid.
    parameters.set("token", presented?.handle ?? "invalid");
    const sent = Buffer.from(parameters.toString());
    return presented === undefined ? { sent } : { presented, sent };
  }

  /** Makes a new provider if the keys have changed. */
  async #look(): Promise<void> {
    if (this.#instance === undefined) return;
    const { version } = await this.current();
    if ((await this.#keys.version()) === version) return;
    // Requests under way go on with the one before.
    const made = await this.#make();
    this.#instance = Promise.resolve(made);
  }

  async #make(): Promise<Instance> {
    const oidc = await import("oidc-provider");
    const keys = await this.#keys.load();
    const version = await this.#keys.version();
    const stores = {
      documents: this.#documents,
      sessions: this.sessions,
      revocations: this.revocations,
    };
    const provider = createInstance(oidc, this.#options, keys, stores);
    return { version, provider, keys, callback: provider.callback() as never };
  }
}

function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
}

function hold(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", resolve);
    response.once("finish", resolve);
  });
}

/** A client of `oidc-provider`; its types omit the method. */
interface BackchannelClient {
  backchannelLogout(this: unknown, accountId: string, sid: string): Promise<void>;
}
