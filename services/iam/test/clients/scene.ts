import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { RelationshipUpdate } from "svc-access/authz";
import type { ServiceAccountTables } from "../../src/ground/store/service-account-tables.ts";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import { ServiceAccounts } from "../../src/people/accounts/service-accounts/service-accounts.ts";
import { Browser } from "../support/browser.ts";
import { addUser, databaseOf } from "../support/browser-login.ts";
import { AS_HUB, asUser, type IamService, REDIRECT_URI } from "../support/iam-service.ts";
import { type LoggedIn, logInAt, withToken } from "../support/log-in-at.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import type { Json } from "./rpc-client.ts";

export const SYSTEM_TOKEN = "the-system-token-of-this-platform";
export const AS_SYSTEM = { "x-svc-internal-token": SYSTEM_TOKEN };

/** The credentials of a call: none, a gateway's, an access token, an internal token, the system token. */
export type Who = "nobody" | "owner" | "login" | "hub" | "system";

interface Session extends LoggedIn {
  readonly userId: string;
  readonly username: string;
  readonly sessionId: string;
}

/** What the request of one call names; it is made for this call. */
export class Scene {
  readonly #iam: IamService;
  /** What is not the same in the answers of two calls, and what it is. */
  readonly #names: [string, string][] = [];
  #owner: string | undefined;
  #session: Promise<Session> | undefined;

  constructor(iam: IamService) {
    this.#iam = iam;
  }

  async headers(who: Who): Promise<Record<string, string>> {
    switch (who) {
      case "nobody":
        return {};
      case "owner":
        return asUser(await this.owner());
      case "login":
        return withToken(await this.login());
      case "hub":
        return AS_HUB;
      case "system":
        return AS_SYSTEM;
    }
  }

  /** A text that is used once. */
  unique(name = "unique"): string {
    return this.#named(`x${randomUUID()}`, name);
  }

  /** A user without relations. */
  async user(name = "user"): Promise<string> {
    const accounts = new LocalAccounts(databaseOf(this.#iam).kysely, "acme");
    const id = this.#named(randomUUID(), name);
    const username = this.unique(`${name}-name`);
    const email = `${username}@example.com`;
    await accounts.create({ username, displayName: username, email, passwordHash: "" }, id);
    return id;
  }

  /** The caller `owner`, who owns the zone. */
  async owner(): Promise<string> {
    if (this.#owner === undefined) {
      this.#owner = await this.user("owner");
      await this.relate({ type: "zone", id: "acme" }, "owner", this.#owner);
    }
    return this.#owner;
  }

  async relate(resource: { type: string; id: string }, relation: string, user: string) {
    const update: RelationshipUpdate = {
      operation: "TOUCH",
      relationship: { resource, relation, subject: { type: "user", id: user } },
    };
    await this.#iam.options.engine?.writeRelationships({ updates: [update] });
  }

  /** The caller `login`. */
  login(): Promise<Session> {
    this.#session ??= this.anotherLogin();
    return this.#session;
  }

  async anotherLogin(): Promise<Session> {
    const username = this.unique("login-name");
    await addUser(this.#iam, username);
    // At one address, which is the same in all answers.
    const browser = new Browser(this.#iam.origin);
    const tokens = await logInAt(this.#iam, username, PASSWORD, browser);
    const headers = withToken(tokens);
    const { sessions } = await this.must("GET", "/v1/iam/me/sessions", undefined, headers);
    const { subjectId: userId } = await this.must("GET", "/v1/iam/me", undefined, headers);
    const [{ id: sessionId }] = sessions;
    this.#named(userId, "login");
    this.#named(sessionId, "session");
    return { ...tokens, username, userId, sessionId };
  }

  /** The code of a login, with what it was begun with. */
  async code() {
    const username = this.unique("login-name");
    await addUser(this.#iam, username);
    const codeVerifier = randomBytes(32).toString("base64url");
    const query = new URLSearchParams({
      redirect_uri: REDIRECT_URI,
      state: "a state",
      code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    });
    const { loginUrl } = await this.must("GET", `/v1/iam/login-url?${query}`);
    const browser = new Browser(this.#iam.origin);
    const form = { action: "login", username, password: PASSWORD };
    const visit = await browser.submit(await browser.open(loginUrl), form);
    const code = new URL(visit.url).searchParams.get("code") ?? "";
    return { code, redirectUri: REDIRECT_URI, codeVerifier };
  }

  async group(name = "group"): Promise<string> {
    const path = "/v1/iam/organizations/acme/groups";
    const headers = asUser(await this.owner());
    const { id } = await this.must("POST", path, { displayName: "Team" }, headers);
    return this.#named(id, name);
  }

  async account(): Promise<string> {
    const database = databaseOf(this.#iam).as<ServiceAccountTables>();
    const fields = { displayName: "Robot", audience: [] };
    const { id } = await new ServiceAccounts(database).create(database.kysely, fields);
    return this.#named(id, "account");
  }

  async accountKey(account: string): Promise<string> {
    const path = `/v1/iam/service-accounts/${account}/keys`;
    const { key } = await this.must("POST", path, {}, asUser(await this.owner()));
    return this.#named(key.id, "key");
  }

  async organization(): Promise<string> {
    const organizationId = this.unique("organization");
    const body = { organizationId, displayName: "Another" };
    await this.must("POST", "/v1/iam/system/organizations", body, AS_SYSTEM);
    return organizationId;
  }

  /** Makes an audit event of the owner; also one of a call over the rate limit is one. */
  async audited(): Promise<void> {
    const body = { displayName: "Robot" };
    await this.#iam.call("POST", "/v1/iam/service-accounts", body, asUser(await this.owner()));
  }

  /** A call that must succeed. */
  async must(...call: Parameters<IamService["call"]>): Promise<Json> {
    const { status, body } = await this.#iam.call(...call);
    if (status !== 200) throw new Error(`${call[0]} ${call[1]}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /**
   * An answer without what differs from call to call: of what this call names, which of it remains.
   * Of equal elements of a list one remains.
   */
  comparable(value: Json): Json {
    if (typeof value === "string") return this.#text(value);
    if (Array.isArray(value)) {
      const texts = value.map((one) => JSON.stringify(this.comparable(one)));
      return [...new Set(texts)].sort().map((text) => JSON.parse(text));
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        name === "duration_ms" ? typeof one : this.comparable(one),
      ]),
    );
  }

  #text(text: string): string {
    let shown = text;
    for (const [value, name] of this.#names) shown = shown.replaceAll(value, `{${name}}`);
    return shown
      .replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "{uuid}")
      .replace(/[\w.~-]{40,}/g, "{secret}")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "{time}")
      .replace(/\b(?:[\da-f]{32}|[\da-f]{16})\b/g, "{trace}");
  }

  #named(value: string, name: string): string {
    this.#names.push([value, name]);
    return value;
  }
}
