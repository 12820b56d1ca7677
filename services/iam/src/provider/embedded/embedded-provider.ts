import { type Job, type RawResponse, ServiceError } from "svc-access/runtime";
import { foreignFormPage } from "../../pages/foreign-form-page.ts";
import { FormTokens } from "../../pages/form-tokens.ts";
import { PageDesign } from "../../pages/page-design.ts";
import { slowedResponse } from "../../pages/slowed-page.ts";
import type { LoginSession } from "../../sessions/login-session.ts";
import { Revocations } from "../../sessions/revocations.ts";
import { Sessions } from "../../sessions/sessions.ts";
import { ProviderDatabase } from "../../store/provider-database.ts";
import { ProviderDocuments } from "../../store/provider-documents.ts";
import type { Rotation } from "../../store/provider-keys.ts";
import type { ProviderCall } from "../identity-provider.ts";
import type { ProviderStores } from "./adapter/provider-stores.ts";
import { DeviceStarts, deviceStartRefused } from "./device-starts.ts";
import {
  AUTHORIZATION_PATH,
  type EmbeddedProviderOptions,
  PROVIDER_PATH,
  sessionCookieName,
} from "./embedded-options.ts";
import { isForeignForm } from "./own-forms.ts";
import { type Instance, ProviderInstances } from "./provider-instances.ts";
import { providerJobs } from "./provider-jobs.ts";
import {
  AUTHORIZATION_ENDPOINT,
  DEVICE_START_PATH,
  endpointPath,
  KEY_SET_ENDPOINT,
  USER_CODE_PATH,
} from "./request/endpoints.ts";
import { freshRequest, queryOf } from "./request/fresh-request.ts";
import { hold } from "./request/hold-response.ts";
import type { ProviderRequest } from "./request/provider-request.ts";
import { recordEvent } from "./request/record-event.ts";
import { type RequestScope, requestScope } from "./request/request-scope.ts";
import { tellClients } from "./tell-clients.ts";
import { presentTokenOf } from "./tokens/present-token-of.ts";
import { hasUserCode, UserCodeAttempts } from "./user-code-attempts.ts";

/** What public pages of other origins may read, and browsers keep for a while. */
const CACHEABLE = /^\/(?:jwks|\.well-known\/[a-z-]+)$/;

/**
 * The embedded OpenID provider: `oidc-provider` over the local accounts. Its state is in the database, so
 * that it survives restarts and replicas share it.
 *
 * @example
 * ```ts
 * const provider = new EmbeddedProvider(options);
 * const server = await createServer({ configuration, bindings, rawHandlers: providerHandlers(provider) });
 * ```
 */
export class EmbeddedProvider {
  readonly #options: EmbeddedProviderOptions;
  /** The logins of people. */
  readonly sessions: Sessions;
  /** The tokens that no longer count. */
  readonly revocations: Revocations;
  /** The tokens of its forms. */
  readonly forms: FormTokens;
  /** The look of its pages. */
  readonly design: PageDesign;
  readonly #stores: ProviderStores;
  readonly #instances: ProviderInstances;
  readonly #userCodes: UserCodeAttempts;
  readonly #deviceStarts: DeviceStarts;

  constructor(options: EmbeddedProviderOptions) {
    const { database, now } = options;
    this.#options = options;
    this.forms = new FormTokens(options.box, now);
    this.design = options.design ?? new PageDesign();
    const opened = new ProviderDatabase(database);
    const documents = new ProviderDocuments(opened, now);
    this.revocations = options.revocations ?? new Revocations(opened, now);
    this.sessions = new Sessions(opened, this.revocations, now);
    this.#stores = { documents, sessions: this.sessions, revocations: this.revocations };
    this.#instances = new ProviderInstances(options, opened, this.#stores, this);
    this.#userCodes = new UserCodeAttempts(database, now);
    this.#deviceStarts = new DeviceStarts(database, now);
  }

  /** The issuer of the tokens. */
  get issuer(): string {
    return `${this.#options.publicUrl}${PROVIDER_PATH}`;
  }

  /** The options that it was made with. */
  get options(): EmbeddedProviderOptions {
    return this.#options;
  }

  /**
   * Loads `oidc-provider`, half a second, and makes the first keys. Otherwise the first request does.
   *
   * @throws UnsealError if a signing key cannot be read
   */
  async load(): Promise<void> {
    await this.#instances.load();
  }

  /**
   * The key set (RFC 7517) that its tokens are verified with. It is read when a token has an unknown key,
   * which another replica may have made since.
   *
   * @throws MissingKeyError if another replica has sealed a key that this one cannot open: a token of it
   * would seem to have an unknown key
   */
  async keySet(): Promise<{ readonly keys: readonly object[] }> {
    await this.#instances.look();
    const { keys } = await this.current();
    return { keys: keys.map(({ kty, n, e, kid, alg, use }) => ({ kty, n, e, kid, alg, use })) };
  }

  /** For `/readyz`: why its key set is not whole; undefined if it is. */
  get problem(): string | undefined {
    return this.#instances.missing === undefined
      ? undefined
      : "a signing key of another replica cannot be read: an encryption key is missing in iam.encryption_key_file";
  }

  /**
   * Lets the next signing key sign.
   *
   * @param options.isUrgent also if verifiers may not know it yet
   */
  rotateSigningKey(options: { readonly isUrgent?: boolean } = {}): Promise<Rotation> {
    return this.#instances.rotate(options);
  }

  /** Uses the keys and the clients of now, from the next request on. */
  look(): Promise<void> {
    return this.#instances.look();
  }

  /** What must be done while the service runs. */
  jobs(): readonly Job[] {
    return providerJobs(this.#instances, this.#stores);
  }

  /** The provider of the moment. */
  current(): Promise<Instance> {
    return this.#instances.current();
  }

  /** Runs work in the scope of a request, and waits for what it records. */
  async within<T>(scope: Omit<RequestScope, "pending">, work: () => Promise<T>): Promise<T> {
    const pending: Promise<unknown>[] = [];
    const result = await requestScope.run({ ...scope, pending }, work);
    await Promise.all(pending);
    return result;
  }

  /**
   * Ends a session, notifies the clients that want to know of it, and records it in the audit.
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
    await this.#tell([ended]);
    return true;
  }

  /**
   * Ends the sessions of an account, as `endSession` does.
   *
   * @param except one that continues
   * @returns how many were ended
   */
  async endSessions(accountId: string, except?: string): Promise<number> {
    return this.sessionsEnded(accountId, await this.sessions.endAll(accountId, except));
  }

  /** Notifies clients of sessions that have ended, and records it. @returns how many they are */
  async sessionsEnded(accountId: string, ended: readonly LoginSession[]): Promise<number> {
    if (ended.length === 0) return 0;
    recordEvent(this.#options, {
      event: "session.ended",
      riskLevel: "MEDIUM",
      accountId,
      details: { sessions: ended.length },
    });
    await this.#tell(ended);
    return ended.length;
  }

  async #tell(ended: readonly LoginSession[]): Promise<void> {
    const { provider } = await this.current();
    await tellClients(provider, ended, this.#options.log);
  }

  /** Ends the session that a client's tokens have come from, by their claim `sid`. */
  async endSessionOf(sid: string, accountId: string): Promise<void> {
    for (const { id, clients } of await this.sessions.list(accountId)) {
      if (clients.some((client) => client.sid === sid)) await this.endSession(id, accountId);
    }
  }

  /** Answers a request of `oidc-provider` itself, not of the login and consent pages. */
  async handle(request: ProviderRequest, call: ProviderCall): Promise<RawResponse | undefined> {
    const { incoming, response, method } = request;
    const path = endpointPath(request.path.slice(PROVIDER_PATH.length) || "/");
    // Another spelling would evade the rate limit of its path.
    if (path === AUTHORIZATION_ENDPOINT && request.path !== AUTHORIZATION_PATH) {
      throw new ServiceError("RESOURCE_NOT_FOUND", "there is no such page");
    }
    // A token of a clock that is ahead would count long after its login was ended.
    if (this.#options.clock?.problem !== undefined && !CACHEABLE.test(path)) {
      throw new ServiceError("UNAVAILABLE", "the clock of this process is wrong");
    }
    // Who gets a key set that lacks a key refuses the tokens of other replicas.
    if (path === KEY_SET_ENDPOINT && this.#instances.missing !== undefined) {
      throw this.#instances.missing;
    }
    const body = method === "POST" ? await request.body() : undefined;
    const cookieName = sessionCookieName(this.#options.publicUrl);
    const { headers } = request;
    const view = this.design.view({ headers, query: new URLSearchParams() }, call);
    if (body !== undefined && isForeignForm(this.forms, path, { headers, body }, cookieName)) {
      return view.response(403, foreignFormPage());
    }
    if (method === "POST" && path === DEVICE_START_PATH) {
      const seconds = await this.#deviceStarts.begin(call.clientAddress);
      if (seconds !== undefined) return deviceStartRefused(seconds);
    }
    const isUserCode = path === USER_CODE_PATH && hasUserCode(body);
    if (isUserCode) {
      const seconds = await this.#userCodes.begin(call.clientAddress);
      if (seconds !== undefined) return slowedResponse(view, seconds);
    }
    const instance = await this.current();
    const { now = Date.now } = this.#options;
    const own = { issuer: this.issuer, keys: instance.keys, revocations: this.revocations, now };
    const { presented, sent } = await presentTokenOf(path, body, own);
    const query = queryOf(incoming.url ?? "");
    const fresh = freshRequest({ incoming, url: `${path}${query}`, body: sent });
    if (!CACHEABLE.test(path)) response.setHeader("Cache-Control", "no-store");
    const userAgent = request.headers.all("user-agent").join();
    const scope = { call, userAgent, ...(presented === undefined ? {} : { presented }) };
    await this.within(scope, async () => {
      const ended = hold(response);
      await instance.callback(fresh, response);
      const isFound = requestScope.getStore()?.hasFoundUserCode === true;
      if (isUserCode && isFound) await this.#userCodes.succeeded(call.clientAddress);
      await ended;
    });
    return undefined;
  }
}
