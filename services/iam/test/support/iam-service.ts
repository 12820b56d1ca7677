import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AuditEvent,
  type AuditFilter,
  createServer,
  openAuditLog,
  type Server,
} from "svc-access/runtime";
import { afterAll } from "vitest";
import { stringify } from "yaml";
import { freePort } from "../../../../test/support/free-port.ts";
import { loadIamConfig } from "../../src/config/load-iam-config.ts";
import { openIam } from "../../src/server.ts";
import { SERVICE_COST } from "./hash-cost.ts";
import { nextRsaKey } from "./rsa-keys.ts";
import { type StackSections, stackSections } from "./stack.ts";

/** The client that the service is at its provider. */
export const LOGIN_CLIENT = "4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1";
/** Where browsers come back to. */
export const REDIRECT_URI = "https://console.example.com/callback";
/** The internal token of the service `hub`. */
export const INTERNAL_TOKEN = "the-internal-token-of-the-hub-in-tests";

/** On a slow machine, passwords and keys of several calls at once take long. */
const CALL_TIMEOUT_NS = 60_000_000_000;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;

type Section = Readonly<Record<string, unknown>>;

/** What a test changes of the configuration. */
export interface IamServiceOptions {
  readonly iam?: Section;
  readonly authn?: Section;
  readonly authz?: Section;
  readonly oidc?: Section;
  readonly login?: Section;
  readonly database?: Section;
  readonly server?: Section;
  /** A port that was free. */
  readonly port?: number;
  /** A folder that a service used before, to start it again. */
  readonly folder?: string;
  readonly organization?: string;
  /** `test` if absent. */
  readonly environment?: string;
  /** `error` if absent. */
  readonly logLevel?: "silent";
}

/** What services run on that were started in a folder, for those that continue there. */
const sectionsOf = new Map<string, StackSections>();

/** A whole svc-iam in this process, from its configuration file. */
export interface IamService {
  readonly origin: string;
  readonly grpcTarget: string;
  readonly folder: string;
  readonly server: Server;
  readonly options: Awaited<ReturnType<typeof openIam>>;
  /** Calls an RPC by its HTTP form, as the hub with its internal token or as nobody. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  stop(): Promise<void>;
}

/** The answer of a call. */
export interface Answer {
  readonly status: number;
  /** JSON of whichever RPC. */
  readonly body: any;
}

/** The headers of the hub. */
export const AS_HUB = { "X-Svc-Internal-Token": INTERNAL_TOKEN };
/** The headers of a gateway, which is on this machine. */
export function asUser(id: string, organization = "acme"): Record<string, string> {
  return {
    "x-svc-auth-verified": "true",
    "x-svc-user-id": id,
    "x-svc-org-id": organization,
  };
}

/** The audit events that match, newest first; the service may have stopped. */
export async function auditEvents(
  { options }: Pick<IamService, "options">,
  filter: AuditFilter,
): Promise<readonly AuditEvent[]> {
  const log = await openAuditLog(options.configuration);
  const { events } = await log.list(filter, { pageSize: 500 });
  await log.close();
  return events;
}

export async function startIam(options: IamServiceOptions = {}): Promise<IamService> {
  const { port = await freePort(), folder = mkdtempSync(join(tmpdir(), "svc-iam-")) } = options;
  const origin = `http://localhost:${port}`;
  folders.push(folder);
  const keys = join(folder, "encryption-key");
  const model = (options.authz?.["model"] as string | undefined) ?? MODEL;
  const stack = sectionsOf.get(folder) ?? (await stackSections(model));
  sectionsOf.set(folder, stack);
  if (options.folder === undefined) writeFileSync(keys, randomBytes(32).toString("base64"));
  const file = join(folder, "service.yaml");
  writeFileSync(
    file,
    stringify({
      environment: options.environment ?? "test",
      service: "iam",
      log: { level: options.logLevel ?? "error" },
      server: {
        http: { address: `127.0.0.1:${port}`, timeout_ns: CALL_TIMEOUT_NS },
        grpc: { address: "127.0.0.1:0", timeout_ns: CALL_TIMEOUT_NS },
        metrics: null,
        ...options.server,
      },
      security: {
        authn: {
          mode: "hybrid",
          provider: "embedded",
          oidc: { issuer: `${origin}/v1/iam/oidc`, audience: [LOGIN_CLIENT], ...options.oidc },
          gateway: { trusted_peers: ["127.0.0.1"] },
          internal_call: { enabled: true, token: [{ service: "hub", token: INTERNAL_TOKEN }] },
          ...options.authn,
        },
        authz: { model, ...stack.authz, ...options.authz },
      },
      database: { ...stack.database, ...options.database },
      ...(stack.registry === undefined ? {} : { registry: stack.registry }),
      iam: {
        organization: options.organization ?? "acme",
        public_url: origin,
        encryption_key_file: keys,
        login: { client_id: LOGIN_CLIENT, redirect_uris: [REDIRECT_URI], ...options.login },
        services: { hub: { may_exchange_tokens: true } },
        ...options.iam,
      },
    }),
  );
  const opened = await openIam(loadIamConfig(file), {
    newKey: nextRsaKey,
    hashCost: SERVICE_COST,
  });
  const server = await createServer(opened);
  const { grpc } = await server.start();
  const grpcPort = typeof grpc === "object" ? grpc.port : undefined;
  let isStopped = false;
  return {
    origin,
    grpcTarget: `127.0.0.1:${grpcPort}`,
    folder,
    server,
    options: opened,
    async call(method, path, body, headers = {}) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    },
    async stop() {
      if (isStopped) return;
      isStopped = true;
      await server.stop();
    },
  };
}
