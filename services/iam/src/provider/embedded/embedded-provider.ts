import type { Job, RawResponse } from "svc-access/runtime";
import { PROVIDER_PATH } from "../../config/provider-paths.ts";
import { OutsideValues } from "../../ground/secrets/outside-values.ts";
import { ProviderDatabase } from "../../ground/store/provider-database.ts";
import { ProviderDocuments } from "../../ground/store/provider-documents.ts";
import type { Rotation } from "../../ground/store/provider-keys.ts";
import { BrowserIdentity } from "../../pages/browser-identity.ts";
import { cookieOf, type RequestHeaders } from "../../pages/cookie-values.ts";
import { FormTokens } from "../../pages/form-tokens.ts";
import { type PagePerson, personOf } from "../../pages/page-choices.ts";
import { PageDesign } from "../../pages/page-design.ts";
import { FailedAttempts } from "../../people/accounts/throttle/failed-attempts.ts";
import type { LoginSession } from "../../people/sessions/login-session.ts";
import { Revocations } from "../../people/sessions/revocations.ts";
import { Sessions } from "../../people/sessions/sessions.ts";
import type { ProviderCall } from "../identity-provider.ts";
import type { ProviderStores } from "./adapter/provider-stores.ts";
import { DeviceStarts, UserCodeAttempts } from "./device-limits.ts";
import { type EmbeddedProviderOptions, sessionCookieName } from "./embedded-options.ts";
import { type EndpointParts, EndpointRequest } from "./endpoint-request.ts";
import { LogoutNotices } from "./logout-notices.ts";
import { notifyClients } from "./notify-clients.ts";
import { type Instance, ProviderInstances } from "./provider-instances.ts";
import { providerJobs } from "./provider-jobs.ts";
import { recordEvent } from "./request/provider-events.ts";
import type { ProviderRequest } from "./request/provider-request.ts";
import { type RequestScope, requestScope } from "./request/request-scope.ts";

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
  /** The notices to clients of sessions that have ended. */
  readonly notices: LogoutNotices;
  readonly #stores: ProviderStores;
  readonly #instances: ProviderInstances;
  readonly #parts: EndpointParts;
  /** The failures that anybody can cause, for the audit. */
  readonly attempts: FailedAttempts;

  constructor(options: EmbeddedProviderOptions) {
    const { database, now } = options;
    this.attempts =
      options.attempts ?? new FailedAttempts({ recorder: options.audit, log: options.log });
    this.#options = { ...options, attempts: this.attempts };
    const missing = options.missingKeys ?? { has() {}, add() {} };
    this.forms = new FormTokens(new OutsideValues(options.box, missing), now);
    this.design = options.design ?? new PageDesign();
    this.notices = new LogoutNotices(options.log);
    const opened = new ProviderDatabase(database);
    const documents = new ProviderDocuments(opened, now);
    this.revocations = options.revocations ?? new Revocations(opened, now);
    this.sessions = new Sessions(opened, this.revocations, now);
    this.#stores = { documents, sessions: this.sessions, revocations: this.revocations };
    this.#instances = new ProviderInstances(this.#options, opened, this.#stores, this);
    this.#parts = {
      instances: this.#instances,
      userCodes: new UserCodeAttempts(database, now),
      deviceStarts: new DeviceStarts(database, now),
    };
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

  /**
   * Which browser sends a request.
   *
   * @throws ServiceError INVALID_ARGUMENT if it says that twice
   */
  browserOf(headers: RequestHeaders): BrowserIdentity {
    return BrowserIdentity.of(headers, this.#options.publicUrl);
  }

  /**
   * The session that a browser has here, of somebody who is logged in or not.
   *
   * @throws ServiceError INVALID_ARGUMENT if it says twice which browser it is
   */
  async sessionOf(
    headers: RequestHeaders,
    call: ProviderCall,
  ): Promise<InstanceType<Instance["provider"]["Session"]> | undefined> {
    const cookie = cookieOf(headers, sessionCookieName(this.#options.publicUrl));
    if (cookie === undefined || cookie === "") return undefined;
    const browser = this.browserOf(headers);
    const { provider } = await this.current();
    return this.within({ call, browser }, () => provider.Session.find(cookie));
  }

  /** Runs work in the scope of a request, and waits for what it records. */
  async within<T>(
    scope: Omit<RequestScope, "pending" | "required">,
    work: () => Promise<T>,
  ): Promise<T> {
    const pending: Promise<unknown>[] = [];
    const result = await requestScope.run({ ...scope, pending, required: [] }, work);
    await Promise.all(pending);
    return result;
  }

  /**
   * Ends a session, has the clients notified that want to know of it, and records it in the audit.
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
    await notifyClients(this, [ended], this.notices);
    return true;
  }

  /**
   * Ends the sessions of an account, as `endSession` does, with its logins that are under way and the codes of
   * devices that have not used them yet: they would be sessions a moment later.
   *
   * @param except one that continues
   * @returns how many were ended
   */
  async endSessions(accountId: string, except?: string): Promise<number> {
    const { accounts } = this.#options;
    const known = except === undefined ? [] : await this.sessions.list(accountId);
    const ended = await this.sessions.endWith(
      accountId,
      async (tx) => {
        await accounts.endLogins(tx, accountId);
        return true;
      },
      known.find(({ id }) => id === except),
    );
    return this.sessionsEnded(accountId, (await ended?.finish()) ?? []);
  }

  /** Has clients notified of sessions that have ended, and records it. @returns how many they are */
  async sessionsEnded(accountId: string, ended: readonly LoginSession[]): Promise<number> {
    if (ended.length === 0) return 0;
    recordEvent(this.#options, {
      event: "session.ended",
      riskLevel: "MEDIUM",
      accountId,
      details: { sessions: ended.length },
    });
    await notifyClients(this, ended, this.notices);
    return ended.length;
  }

  /** Ends the session that a client's tokens have come from, by their claim `sid`. */
  async endSessionOf(sid: string, accountId: string): Promise<void> {
    for (const { id, clients } of await this.sessions.list(accountId)) {
      if (clients.some((client) => client.sid === sid)) await this.endSession(id, accountId);
    }
  }

  /** Who a page is for: whoever is logged in in the browser of a request. */
  async visitorOf(headers: RequestHeaders, call: ProviderCall): Promise<PagePerson | undefined> {
    return personOf((await this.sessionOf(headers, call))?.accountId);
  }

  /** Answers a request of `oidc-provider` itself, not of the login and consent pages. */
  handle(request: ProviderRequest, call: ProviderCall): Promise<RawResponse | undefined> {
    return new EndpointRequest(this, this.#parts, request, call).respond();
  }
}
