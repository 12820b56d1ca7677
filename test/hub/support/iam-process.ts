import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { createEmbeddedEngine } from "../../../src/authz/embedded/index.ts";
import { openSqliteStore } from "../../../src/authz/store/sqlite/open-sqlite-store.ts";
import { readModelFile } from "../../../src/model/index.ts";
import { freePort } from "../../support/free-port.ts";
import { ROOT } from "../../support/workspace.ts";
import { ServiceProcess } from "./hub-process.ts";

const MODEL = join(ROOT, "model/iam.zed");
const CLIENT = "4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1";
/** The internal token of the hub for IAM. */
export const IAM_TOKEN = "token-of-the-hub-for-iam-3f1b";

interface Ports {
  readonly http: number;
  readonly grpc: number;
}

/** A svc-iam on an address of its own, which it keeps after a restart. Alice owns the zone `acme`. */
export class IamProcess {
  readonly folder: string;
  readonly grpc: string;
  readonly #http: number;
  readonly #configuration: string;
  process!: ServiceProcess;

  private constructor(folder: string, ports: Ports, configuration: string) {
    this.folder = folder;
    this.grpc = `127.0.0.1:${ports.grpc}`;
    this.#http = ports.http;
    this.#configuration = configuration;
  }

  /** Prepares one that does not run yet. */
  static async prepare(): Promise<IamProcess> {
    const folder = mkdtempSync(join(tmpdir(), "svc-iam-hub-"));
    const ports = { http: await freePort(), grpc: await freePort() };
    const configuration = join(folder, "service.yaml");
    writeFileSync(configuration, stringify(serviceYaml(ports)));
    const read = readModelFile(MODEL);
    if (read.model === undefined) throw new Error("the model is not valid");
    const store = await openSqliteStore({ file: join(folder, "iam.relationships.db") });
    const engine = await createEmbeddedEngine({ model: read.model, store });
    const relationship = {
      resource: { type: "zone", id: "acme" },
      relation: "owner",
      subject: { type: "user", id: "alice" },
    };
    await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
    await engine.close();
    return new IamProcess(folder, ports, configuration);
  }

  async start(): Promise<void> {
    this.process = new ServiceProcess("iam", { configuration: this.#configuration });
    await this.process.addresses();
  }

  async kill(): Promise<void> {
    await this.process.stop("SIGKILL");
  }

  /** The environment of a hub that asks it. */
  get environment(): Readonly<Record<string, string>> {
    const IAM_ISSUER = `http://localhost:${this.#http}/v1/iam/oidc`;
    return { AUTHZ_PROVIDER: "iam", IAM_ADDRESS: this.grpc, IAM_ISSUER, IAM_TOKEN };
  }

  async remove(): Promise<void> {
    await this.process?.stop("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function serviceYaml({ http, grpc }: Ports) {
  const origin = `http://localhost:${http}`;
  return {
    environment: "development",
    service: "iam",
    server: {
      http: { address: `127.0.0.1:${http}` },
      grpc: { address: `127.0.0.1:${grpc}` },
      metrics: null,
    },
    security: {
      authn: {
        mode: "hybrid",
        provider: "embedded",
        oidc: { issuer: `${origin}/v1/iam/oidc`, audience: [CLIENT] },
        internal_call: { enabled: true, token: [{ service: "hub", token: IAM_TOKEN }] },
      },
      authz: { provider: "embedded", model: MODEL },
    },
    database: { driver: "sqlite", file: "iam.db" },
    iam: {
      organization: "acme",
      public_url: origin,
      login: { client_id: CLIENT, redirect_uris: [`${origin}/callback`] },
      services: {
        hub: {
          read_types: ["zone", "organization", "project", "skill_space", "skill"],
          write_types: ["organization", "project", "skill_space", "skill"],
        },
      },
    },
  };
}
