/** The handlers of the administration service, called by messages in JSON, without limits of rates. */
import { create, type DescMessage, fromJson, toJson } from "@bufbuild/protobuf";
import type { AuthorizationEngine } from "svc-access/authz";
import type { AuditRecord } from "svc-access/runtime";
import { testContext } from "svc-access/testing";
import { IAMAuthorizationService } from "../../../gen/svc/iam/v1/administration_pb.ts";
import { authorizationHandlers } from "../../../src/api/relationships/relationship-handlers.ts";
import type { OwnerClaimTables } from "../../../src/ground/store/owner-claim-tables.ts";
import { LastOwner } from "../../../src/rights/last-owner.ts";
import { OwnerClaims } from "../../../src/rights/owner-claims.ts";
import { RelationshipRules } from "../../../src/rights/relationship-rules.ts";
import { iamEngine, NO_LOG, PAGE_TOKENS, relationship, write } from "../../rights/rights-engine.ts";
import { sqlite } from "../../support/databases.ts";

/** What a handler answered. */
export interface Outcome {
  /** `OK` or the code of the error. */
  readonly code: string;
  readonly message: string;
  /** The response, in JSON of whichever RPC. */
  readonly body: any;
  readonly records: readonly AuditRecord[];
}

type Rpc = keyof typeof IAMAuthorizationService.method;

/** The service over an engine in memory. */
export interface Administration extends AsyncDisposable {
  readonly engine: AuthorizationEngine;
  call(rpc: Rpc, body: unknown, user: string): Promise<Outcome>;
  /** Writes without any rule; with `-` in front, deletes. */
  store(...texts: string[]): Promise<void>;
  isStored(text: string): Promise<boolean>;
}

/** A group that the administrators of the project `site` may not see, and others that they may. */
export const STORED = [
  "zone:acme#owner@user:root",
  "zone:acme#permission_admin@user:padmin",
  "group:eng#zone@zone:acme",
  "group:eng#owner@user:eng-owner",
  "group:eng#member@user:ed",
  "group:secret#zone@zone:hidden",
  "group:secret#member@user:mole",
  "organization:one#zone@zone:acme",
  "organization:one#owner@user:one-owner",
  "project:site#parent@organization:one",
  "project:site#owner@user:site-owner",
  "project:site#admin@user:site-admin",
  "project:site#developer@group:eng#member",
  "project:site#viewer@group:secret#member",
  "project:other#owner@user:other-owner",
];

export async function administration(...stored: string[]): Promise<Administration> {
  return administrationOn(await iamEngine(...stored));
}

/** @param engine closed at the end */
export async function administrationOn(engine: AuthorizationEngine): Promise<Administration> {
  const { open } = await sqlite();
  const claims = new OwnerClaims(open().as<OwnerClaimTables>(), NO_LOG);
  const enabled = async (ids: readonly string[]) => new Set(ids);
  const handlers = authorizationHandlers({
    engine,
    pageTokens: PAGE_TOKENS,
    rules: new RelationshipRules(engine),
    lastOwner: new LastOwner({ engine, claims, enabled }),
  });
  return {
    engine,
    async call(rpc, body, user) {
      const { input, output } = IAMAuthorizationService.method[rpc];
      const context = testContext({ user });
      const { auditRecords: records } = context;
      try {
        const request = fromJson(input as DescMessage, JSON.parse(JSON.stringify(body)));
        const answer = await handlers[rpc](request as never, context);
        return { code: "OK", message: "", body: toPlain(output, answer), records };
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        if (code === undefined) throw error;
        return { code, message, body: {}, records };
      }
    },
    store: async (...texts) => void (await write(engine, ...texts)),
    async isStored(text) {
      const { resource, relation, subject } = relationship(text);
      const filter = { resourceType: resource.type, resourceId: resource.id, relation };
      const { type, id } = subject;
      const found = await engine.readRelationships({ ...filter, subject: { type, id } });
      return found.items.length === 1;
    },
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

function toPlain(schema: DescMessage, message: unknown): any {
  // What handlers return is the init of a message, which the runtime completes.
  return toJson(schema, create(schema, message as never), { alwaysEmitImplicit: true });
}

/** A relationship of a response as text. */
export function text({ resource, relation, subject }: any): string {
  const set = subject.relation ? `#${subject.relation}` : "";
  return `${resource.type}:${resource.id}#${relation}@${subject.type}:${subject.id}${set}`;
}
