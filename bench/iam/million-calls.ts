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

/** A user and a service who call. */
export class MillionCalls {
  readonly #iam: BenchIam;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #service;

  /** @param owner the id of a user who owns the zone */
  constructor(iam: BenchIam, owner: string) {
    this.#iam = iam;
    this.#headers = {
      "content-type": "application/json",
      "x-svc-auth-verified": "true",
      "x-svc-user-id": owner,
      "x-svc-org-id": "acme",
    };
    this.#service = createGrpcClient(IAMPermissionService, {
      target: `127.0.0.1:${iam.grpcPort}`,
      internalToken: HUB_TOKEN,
    });
  }

  /** @returns its id */
  async createGroup(): Promise<string> {
    const body = { displayName: "Everyone" };
    const { id } = await this.#fetch<{ id: string }>(GROUPS, "POST", body);
    return id;
  }

  /** Makes the members of a group viewers of so many projects. */
  async importViewers(group: string, count: number): Promise<number> {
    const subject = { type: "group", id: group, relation: "member" };
    let next = 0;
    const write = async (): Promise<void> => {
      for (let first = next; first < count; first = next) {
        next += BATCH;
        const updates = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => {
          const resource = { type: "project", id: `p${first + index}` };
          const relationship = { resource, relation: "viewer", subject };
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

  /** Deletes a group, and waits until nothing names it. */
  async deleteGroup(group: string): Promise<void> {
    await this.#fetch(`${GROUPS}/${group}`, "DELETE");
    const filter = { resourceType: "project", subjectType: "group", subjectId: group };
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

  async #fetch<Answer>(path: string, method = "GET", body?: unknown): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${this.#iam.port}${path}`, {
      method,
      headers: this.#headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Answer;
  }
}

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
