/** A whole svc-iam, and services that call its permission service over gRPC. */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuthorizationEngine, WriteOperation } from "svc-access/authz";
import {
  createAuthorizationEngine,
  createGrpcClient,
  loadServiceConfig,
  type ServiceClient,
} from "svc-access/runtime";
import { stringify } from "yaml";
import { IAMPermissionService } from "../../gen/svc/iam/v1/permission_pb.ts";
import { type IamService, type IamServiceOptions, startIam } from "./iam-service.ts";

/** A client of the permission service. */
export type PermissionClient = ServiceClient<typeof IAMPermissionService>;

/** The services whose tokens IAM knows; `stranger` is not listed in `iam.services`. */
export const SERVICES = ["hub", "reader", "writer", "stranger"] as const;
export type ServiceName = (typeof SERVICES)[number];

export function tokenOf(service: ServiceName): string {
  return `the-internal-token-of-the-${service}`;
}

/** What the services may do. */
const RIGHTS = {
  hub: { read_types: ["*"], write_types: ["project", "skill", "organization"] },
  reader: { read_types: ["project"] },
  writer: { write_types: ["project"] },
};

/** svc-iam with its services. */
export interface IamWithServices {
  readonly iam: IamService;
  readonly engine: AuthorizationEngine;
  as(service: ServiceName): PermissionClient;
  stop(): Promise<void>;
}

export async function startWithServices(options: IamServiceOptions = {}): Promise<IamWithServices> {
  const token = SERVICES.map((service) => ({ service, token: tokenOf(service) }));
  const iam = await startIam({
    ...options,
    authn: { internal_call: { enabled: true, token }, ...options.authn },
    iam: { services: RIGHTS, ...options.iam },
  });
  const clients = new Map(SERVICES.map((name) => [name, clientOf(iam, name)]));
  return {
    iam,
    engine: iam.options.engine as AuthorizationEngine,
    as: (service) => clients.get(service) as PermissionClient,
    async stop() {
      await iam.stop();
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

function clientOf({ grpcTarget: target }: IamService, service: ServiceName): PermissionClient {
  return createGrpcClient(IAMPermissionService, { target, internalToken: tokenOf(service) });
}

/** `type:id#relation@type:id`, or with the relation of a set at the end. */
export function relationship(text: string) {
  const [, type = "", id = "", relation = "", subjectType = "", subjectId = "", userset = ""] =
    /^([^:]+):([^#]+)#([^@]+)@([^:]+):([^#]+)(?:#(.+))?$/.exec(text) ?? [];
  return {
    resource: { type, id },
    relation,
    subject: { type: subjectType, id: subjectId, relation: userset },
  };
}

/** Writes as IAM itself does: any type. */
export async function store(
  engine: AuthorizationEngine,
  texts: readonly string[],
  operation: WriteOperation = "TOUCH",
): Promise<string> {
  const { revision } = await engine.writeRelationships({
    updates: texts.map((text) => {
      const { subject, ...rest } = relationship(text);
      const { relation, ...object } = subject;
      const set = relation === "" ? object : subject;
      return { operation, relationship: { ...rest, subject: set } };
    }),
  });
  return revision;
}

/** The engine `iam` as a service has it, by a configuration file of its own. */
export async function openIamEngine(options: {
  readonly target: string;
  /** Or `token_file` of `more`. */
  readonly token?: string;
  readonly model: string;
  readonly folder: string;
  /** The rest of `security.authz.iam`; without TLS if absent. */
  readonly more?: Readonly<Record<string, unknown>>;
}): Promise<AuthorizationEngine> {
  const { target: endpoint, token, model, folder, more = { insecure: true } } = options;
  const iam = { endpoint, ...(token === undefined ? {} : { token }), ...more };
  const file = join(folder, `client-${randomUUID()}.yaml`);
  writeFileSync(
    file,
    stringify({
      environment: "test",
      service: "client",
      server: { grpc: { address: "127.0.0.1:0" } },
      security: {
        authn: { gateway: { trusted_peers: ["127.0.0.1"] } },
        authz: { provider: "iam", model, iam },
      },
    }),
  );
  return createAuthorizationEngine(loadServiceConfig(file).config);
}
