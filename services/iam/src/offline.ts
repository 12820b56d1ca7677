import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import {
  type Authenticator,
  type CallHeaders,
  createServer,
  type Interceptor,
  type Principal,
  type ServerOptions,
  ServiceError,
} from "svc-access/runtime";
import type { Connection } from "./commands/connection/connection.ts";
import { connectionTo } from "./commands/connection/http-connection.ts";
import { say } from "./commands/run/run-command.ts";
import { refuseRunning } from "./commands/running-servers.ts";
import { type LoadedIamConfig, loadCommandConfig } from "./config/load-iam-config.ts";
import { OPERATOR, operatorName } from "./ground/operator/operator.ts";
import { operatorEngine } from "./ground/operator/operator-engine.ts";
import { openIam } from "./server.ts";

const HEADER = "x-svc-iam-operator";

/**
 * Opens a connection to the store of a configuration, for an operator without a server: the handlers of the service
 * run in this process, behind a port of this machine and a secret that only this process knows.
 *
 * @throws CommandError while a server runs, or may run; AuthzError while another process holds the store
 */
export async function connectOffline(file: string): Promise<Connection> {
  const configuration = loadCommandConfig(file);
  await refuseRunning(configuration);
  const name = operatorName();
  const organizationId = configuration.sections.iam.organization;
  const secret = randomBytes(32).toString("base64url");
  const opened = await openIam(alone(configuration), { engine: operatorEngine });
  const server = await createServer({
    ...opened,
    configuration: alone(configuration),
    before: [onlyBy(secret)],
    authenticators: [operatorBy(secret, { name, organizationId })],
    // The next start of a server continues what is left to be done.
    jobs: [],
  } satisfies ServerOptions);
  const { http } = await server.start();
  say(`acting as ${OPERATOR}:${name} on the store of ${file}: nobody's rights are checked`);
  return connectionTo({
    server: `http://127.0.0.1:${http?.port}`,
    organizationId,
    metadata: { [HEADER]: secret },
    close: () => server.stop(),
  });
}

/** The configuration of a process that nobody else calls, and that says nothing but what fails. */
function alone(loaded: LoadedIamConfig): LoadedIamConfig {
  const { grpc: _grpc, metrics: _metrics, ...server } = loaded.config.server;
  const { tls: _tls, ...http } = server.http ?? {};
  const { registry: _registry, ...config } = loaded.config;
  return {
    ...loaded,
    config: {
      ...config,
      log: { ...config.log, level: "silent" },
      server: { ...server, http: { ...http, address: "127.0.0.1:0" } },
      // The one caller is the operator (`onlyBy`), whose subject type is the audience of no policy.
      security: { ...config.security, authz: { ...config.security.authz, dev_allow_all: true } },
    } as LoadedIamConfig["config"],
    warnings: [],
  };
}

interface Operator {
  readonly name: string;
  readonly organizationId: string;
}

function operatorBy(secret: string, { name, organizationId }: Operator): Authenticator {
  const principal: Principal = {
    subjectType: OPERATOR,
    subjectId: name,
    username: name,
    name,
    email: "",
    organizationId,
    groups: [],
    roles: [],
    scopes: [],
    source: "internal",
  };
  return {
    name: OPERATOR,
    authenticate({ headers }) {
      return isSent(secret, headers) ? { principal, credential: "internal" } : undefined;
    },
  };
}

/**
 * Refuses every call without the secret, before the runtime looks at any other credential: other processes of this
 * machine find the port, and policies are not enforced here.
 */
function onlyBy(secret: string): Interceptor {
  return async ({ headers }, next) => {
    if (isSent(secret, headers)) return next();
    throw new ServiceError("FORBIDDEN", "an operator works on the store: the service does not run");
  };
}

function isSent(secret: string, headers: Pick<CallHeaders, "all">): boolean {
  const [given = "", ...more] = headers.all(HEADER);
  return more.length === 0 && timingSafeEqual(hashOf(given), hashOf(secret));
}

/** Of one length, whatever was sent. */
function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
