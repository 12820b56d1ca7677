/** What is asked of a svc-iam with a million users and relationships, over its API. */
import { setTimeout as sleep } from "node:timers/promises";
import { createGrpcClient } from "svc-access/runtime";
import {
  IAMPermissionService,
  RelationshipOperation,
} from "../../services/iam/gen/svc/iam/v1/permission_pb.ts";
import { type BenchIam, HUB_TOKEN } from "./iam-service.ts";

const BATCH = 1000;
const AT_ONCE = 4;
/** How often a call is repeated that a busy machine has not answered in time; all calls here may be. */
const REPEATS = 5;
/** How often a call is repeated that is over the limit, and after how long: a minute in all. */
const LIMITED_REPEATS = 600;
const LIMITED_PAUSE_MS = 100;

/** Users and a service who call. */
export class MillionCalls {
  readonly #iam: BenchIam;
  readonly #owner: string;
  readonly #service;

  /** @param owner the id of a user who owns the zone */
  constructor(iam: BenchIam, owner: string) {
    this.#iam = iam;
    this.#owner = owner;
    this.#service = createGrpcClient(IAMPermissionService, {
      target: `127.0.0.1:${iam.grpcPort}`,
      internalToken: HUB_TOKEN,
    });
  }

  /** @returns its id */
  async createGroup(): Promise<string> {
    const body = { displayName: "Everyone" };
    const { id } = await this.#fetch<{ id: string }>(GROUPS, { method: "POST", body });
    return id;
  }

  /** Makes the members of a group viewers of so many projects. */
  importViewers(group: string, count: number): Promise<number> {
    return this.#import("viewer", { type: "group", id: group, relation: "member" }, count);
  }

  /** Makes a user the owner of so many projects. */
  importOwner(id: string, count: number): Promise<number> {
    return this.#import("owner", { type: "user", id }, count);
  }

  async #import(
    relation: string,
    subject: { readonly type: string; readonly id: string; readonly relation?: string },
    count: number,
  ): Promise<number> {
    let next = 0;
    const write = async (): Promise<void> => {
      for (let first = next; first < count; first = next) {
        next += BATCH;
        const updates = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => {
          const resource = { type: "project", id: `p${first + index}` };
          const relationship = { resource, relation, subject };
          return { operation: RelationshipOperation.TOUCH, relationship };
        });
        await repeated(() => this.#service.writeRelationships({ updates }));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, write));
    return count;
  }

  /** Reads all relationships of projects, page by page. */
  async exportAll(): Promise<number> {
    let [count, pageToken] = [0, ""];
    do {
      const request = { filter: { resourceType: "project" }, pageSize: BATCH, pageToken };
      const page = await repeated(() => this.#service.readRelationships(request));
      count += page.relationships.length;
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return count;
  }

  /** Reads all users, page by page. */
  async listUsers(): Promise<number> {
    let [count, token] = [0, ""];
    do {
      const path = `/v1/users?page_size=${BATCH}&page_token=${token}`;
      const page = await this.#fetch<{ users: unknown[]; nextPageToken: string }>(path);
      count += page.users.length;
      token = page.nextPageToken;
    } while (token !== "");
    return count;
  }

  /** A user who is not the owner of the zone. */
  async anotherUser(): Promise<string> {
    const { users } = await this.#fetch<{ users: { id: string }[] }>("/v1/users?page_size=2");
    const other = users.find(({ id }) => id !== this.#owner);
    if (other === undefined) throw new Error("there is one user only");
    return other.id;
  }

  /** Reads, as a user, all relationships of projects that this user sees, page by page. */
  async listRelationships(user: string): Promise<number> {
    let [count, token] = [0, ""];
    do {
      const path = `${RELATIONSHIPS}?resource_type=project&page_size=${BATCH}&page_token=${token}`;
      const page = await this.#fetch<RelationshipPage>(path, { as: user });
      count += page.relationships.length;
      token = page.nextPageToken;
    } while (token !== "");
    return count;
  }

  /** Deletes a group, and waits until nothing names it. */
  async deleteGroup(group: string): Promise<void> {
    await this.#fetch(`${GROUPS}/${group}`, { method: "DELETE" });
    await this.#untilUnnamed("group", group);
  }

  /** Deletes a user, and waits until nothing names them. */
  async deleteUser(user: string): Promise<void> {
    await this.#fetch(`/v1/users/${user}`, { method: "DELETE" });
    await this.#untilUnnamed("user", user);
  }

  async #untilUnnamed(subjectType: string, subjectId: string): Promise<void> {
    const filter = { resourceType: "project", subjectType, subjectId };
    for (;;) {
      const request = { filter, pageSize: 1 };
      const { relationships } = await repeated(() => this.#service.readRelationships(request));
      if (relationships.length === 0) return;
      await sleep(500);
    }
  }

  close(): Promise<void> {
    return this.#service.close();
  }

  async #fetch<Answer>(
    path: string,
    { method = "GET", body, as = this.#owner }: FetchOptions = {},
  ): Promise<Answer> {
    let late = REPEATS;
    for (let left = LIMITED_REPEATS; ; left--) {
      const response = await fetch(`http://127.0.0.1:${this.#iam.port}${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          "x-svc-auth-verified": "true",
          "x-svc-user-id": as,
          "x-svc-org-id": "acme",
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text) as Answer;
      // Only reads: a busy machine may take longer than a call may for the first page of a million.
      if (response.status === TOO_LATE && method === "GET" && late-- > 0) continue;
      if (response.status !== TOO_MANY || left === 0) {
        throw new Error(`${method} ${path}: ${response.status} ${text}`);
      }
      // A caller may list only so many pages a second.
      await sleep(LIMITED_PAUSE_MS);
    }
  }
}

/** What a call has besides its path. */
interface FetchOptions {
  readonly method?: string;
  readonly body?: unknown;
  /** The id of the user who calls; the owner if absent. */
  readonly as?: string;
}

interface RelationshipPage {
  readonly relationships: readonly unknown[];
  readonly nextPageToken: string;
}

const TOO_MANY = 429;
const TOO_LATE = 504;
const RELATIONSHIPS = "/v1/iam/admin/relationships";
const GROUPS = "/v1/iam/organizations/acme/groups";

async function repeated<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (let left = REPEATS; ; left--) {
    try {
      return await call();
    } catch (error) {
      if (left === 0 || (error as { code?: unknown }).code !== "DEADLINE_EXCEEDED") throw error;
    }
  }
}
