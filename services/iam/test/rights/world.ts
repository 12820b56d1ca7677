/** A small world in which accounts change what they may, as the RPCs do it. */
import type { CheckRequest, Relationship, RelationshipUpdate } from "svc-access/authz";
import { type TestContext, type TestEngine, testContext } from "svc-access/testing";
import type { Random } from "../support/random.ts";
import { ACCOUNTS, type InitialState, keyOf, ORGANIZATION } from "./initial-state.ts";
import type { Account } from "./plain-rights.ts";
import { iamEngine } from "./rights-engine.ts";
import type { Action } from "./world-action.ts";
import { openWorldParts, type WorldDatabase, type WorldParts } from "./world-parts.ts";

/** A link for a new password that somebody has made. */
interface Link {
  readonly maker: Account;
  readonly account: Account;
  readonly token: string;
}

/** A key of a service account. */
interface Key {
  readonly account: Account;
  readonly id: string;
}

type AccountAction = Extract<Action, { readonly account: Account }>;

const NEW_PASSWORD = "correct horse battery staple 7";

/** Does what the handlers of the RPCs do. What is refused throws, and changes nothing. */
export class World {
  readonly engine: TestEngine;
  readonly #parts: WorldParts;
  readonly #links: Link[] = [];
  readonly #keys: Key[] = [];
  #made = 0;

  static async begin(database: WorldDatabase, state: InitialState): Promise<World> {
    const engine = await iamEngine(...state.relationships);
    const world = new World(engine, await openWorldParts(database, engine, state));
    for (const account of ACCOUNTS) {
      if (account.type === "service_account") world.#keys.push({ account, id: keyOf(account.id) });
    }
    return world;
  }

  private constructor(engine: TestEngine, parts: WorldParts) {
    this.engine = engine;
    this.#parts = parts;
  }

  /** All relationships. */
  async read(): Promise<readonly Relationship[]> {
    return (await this.engine.readRelationships({})).items;
  }

  /** Whether an account can log in. */
  async isEnabled({ type, id }: Account): Promise<boolean> {
    const { users, serviceAccounts } = this.#parts;
    const found = await (type === "user" ? users : serviceAccounts).find(id);
    return found !== undefined && !found.disabled;
  }

  /** A link that can be used; undefined if there is none. */
  link(random: Random): Link | undefined {
    return this.#links.length === 0 ? undefined : random.pick(this.#links);
  }

  /** A key that was made; undefined if there is none. */
  key(random: Random): Key | undefined {
    return this.#keys.length === 0 ? undefined : random.pick(this.#keys);
  }

  /** Takes an action. @throws if it is refused */
  async take(action: Action): Promise<void> {
    const { caller } = action;
    const { type, id } = caller;
    const subjectType = type as "user" | "service_account";
    const call = testContext({ user: id, subjectType, organizationId: ORGANIZATION });
    const by = { subjectType, subjectId: id };
    switch (action.kind) {
      case "write":
        return this.#write(by, action.updates, call);
      case "add":
      case "remove": {
        await this.#require(caller, "manage_members", { type: "group", id: action.group });
        const group = await this.#group(action.group);
        await this.#parts.members[action.kind](by, group, action.member, call.signal);
        return;
      }
      case "create": {
        const { organizationId, parentId } = action;
        const group = { organizationId, parentId, displayName: "x" };
        await this.#parts.creation.create(by, group, call.signal, `new${this.#made++}`);
        return;
      }
      case "move":
      case "delete_group": {
        await this.#require(caller, "manage", { type: "group", id: action.group });
        const group = await this.#group(action.group);
        if (action.kind === "delete_group") {
          return this.#parts.deletion.delete(by, group, call.signal);
        }
        await this.#parts.moves.move(by, group, action.parentId, call.signal);
        return;
      }
      case "removals":
        return this.#removals();
      default:
        // The page of a link has no policy.
        if (action.kind !== "reset") {
          await this.#require(caller, "manage_users", { type: "zone", id: ORGANIZATION });
        }
        return action.account.type === "user"
          ? this.#changeUser(action, call)
          : this.#changeServiceAccount(action, call);
    }
  }

  async #write(
    by: { readonly subjectType: string; readonly subjectId: string },
    updates: readonly RelationshipUpdate[],
    { signal }: TestContext,
  ): Promise<void> {
    const { rules, lastOwner } = this.#parts;
    const decide = async () => (await rules.assertMayWrite(by, updates, signal)).preconditions;
    await lastOwner.write(updates, decide, signal);
  }

  async #changeUser(action: AccountAction, call: TestContext) {
    const { users, userChanges, passwordHandlers, sessionHandlers, factorHandlers } = this.#parts;
    const { account, caller } = action;
    const user = await users.find(account.id);
    if (user === undefined) throw refused("the user does not exist");
    const request = { userId: user.id } as never;
    switch (action.kind) {
      case "disable":
        return void (await userChanges.disable(user, call));
      case "enable":
        return void (await userChanges.enable(user, call));
      case "delete":
        return userChanges.delete(user, call);
      case "email":
        return void (await userChanges.update(user, { email: `${this.#made++}@b.example` }, call));
      case "sessions":
        return void (await sessionHandlers.endUserSessions(request, call));
      case "factors":
        return void (await factorHandlers.removeUserSecondFactors(request, call));
      case "link": {
        const { url = "" } = await passwordHandlers.createPasswordResetLink(request, call);
        const token = new URL(url).searchParams.get("token") ?? "";
        this.#links.push({ maker: caller, account, token });
        return;
      }
      default:
        return this.#reset(action.of, call);
    }
  }

  /** What the page of a link does with it. */
  async #reset(token: string, call: TestContext): Promise<void> {
    const { links, passwords } = this.#parts;
    const found = await links.find(token);
    const at = this.#links.findIndex((link) => link.token === token);
    if ("reason" in found) {
      if (at >= 0) this.#links.splice(at, 1);
      throw refused(found.reason);
    }
    const { outcome } = await passwords.reset(found, NEW_PASSWORD, call);
    if (outcome !== "reset") throw refused(outcome);
    this.#links.splice(at, 1);
  }

  async #changeServiceAccount(action: AccountAction, call: TestContext) {
    const { serviceAccounts, accountChanges, keyChanges } = this.#parts;
    const account = await serviceAccounts.find(action.account.id);
    if (account === undefined) throw refused("the service account does not exist");
    switch (action.kind) {
      case "disable":
      case "enable":
        return void (await accountChanges[action.kind](account, call));
      case "delete":
        return accountChanges.delete(account, call);
      case "audience":
        return void (await accountChanges.update(account, { audience: ["hub"] }, call));
      case "delete_key":
        return keyChanges.delete(account, action.of, call);
      default: {
        const { key } = await keyChanges.create(account, undefined, undefined, call);
        this.#keys.push({ account: action.account, id: key.id });
      }
    }
  }

  /** What the job does, twice: once it has removed the relationships, and once they have settled. */
  async #removals(): Promise<void> {
    const { clock, removals } = this.#parts;
    for (let run = 0; run < 3; run++) {
      clock.ahead += 60_000;
      await removals.run(new AbortController().signal);
    }
  }

  async #group(id: string) {
    const record = await this.#parts.records.find(id);
    if (record === undefined) throw refused("the group does not exist");
    return record;
  }

  /** What the annotation of an RPC asks for. */
  async #require(subject: Account, permission: string, resource: CheckRequest["resource"]) {
    const { allowed } = await this.engine.check({ resource, permission, subject });
    if (!allowed) throw refused(`${permission} is required`);
  }
}

function refused(message: string): Error {
  return Object.assign(new Error(message), { code: "FORBIDDEN" });
}
