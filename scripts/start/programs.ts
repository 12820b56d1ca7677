import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { shellWord } from "../../src/common/shell-word.ts";
import type { Addresses } from "./addresses.ts";
import { PlatformError } from "./platform-error.ts";
import type { Program } from "./platform-process.ts";
import { HOST, type Ports } from "./ports.ts";
import type { DataFolder } from "./state.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const HUB = join(ROOT, "examples/hub");
const IAM = join(ROOT, "services/iam");

/** The organization of all users, and the id of its zone. */
export const ORGANIZATION = "acme";

/** What the programs of a platform are made of. */
export interface PlatformPlan {
  readonly ports: Ports;
  readonly addresses: Addresses;
  readonly data: DataFolder;
  readonly tokens: Tokens;
  /** The configuration of svc-iam. */
  readonly iamConfig: string;
}

/** The tokens of one run: services know each other by them, and the platform itself by the last one. */
export interface Tokens {
  /** The hub calls svc-iam with it. */
  readonly iam: string;
  /** The hub calls the Git service with it. */
  readonly hub: string;
  /** The Git service calls the hub with it. */
  readonly git: string;
  /** The platform itself calls services with it, as svc-iam client and svc-iam key do. */
  readonly system: string;
}

/**
 * The configuration of svc-iam: that of development, or one that `IAM_CONFIG` names, with more services.
 *
 * @throws PlatformError if it does not exist
 */
export function iamConfigOf({ IAM_CONFIG: name }: NodeJS.ProcessEnv): string {
  const file = name ? resolve(name) : join(IAM, "service.yaml");
  if (existsSync(file)) return file;
  throw new PlatformError(`IAM_CONFIG names ${file}, which does not exist`, 2);
}

/** New tokens. */
export function makeTokens(): Tokens {
  const token = () => randomBytes(24).toString("base64url");
  return { iam: token(), hub: token(), git: token(), system: token() };
}

/** svc-iam, in development: the embedded provider, which logs browsers in. */
export function iamProgram({ ports, addresses, data, tokens, iamConfig }: PlatformPlan): Program {
  return {
    name: "svc-iam",
    main: join(IAM, "src/main.ts"),
    args: ["serve", iamConfig],
    ports: [ports.IAM_HTTP_PORT, ports.IAM_GRPC_PORT, ports.IAM_METRICS_PORT],
    log: data.logFile("svc-iam"),
    environment: {
      ENVIRONMENT: "development",
      DATA: data.path,
      ORGANIZATION,
      PUBLIC_URL: addresses.iam,
      HTTP_ADDRESS: `${HOST}:${ports.IAM_HTTP_PORT}`,
      GRPC_ADDRESS: addresses.iamGrpc,
      METRICS_ADDRESS: addresses.iamMetrics,
      INTERNAL_TOKEN: tokens.iam,
      SYSTEM_TOKEN: tokens.system,
    },
  };
}

/**
 * The command line, for another shell, that lists the clients of svc-iam with the system token of this run.
 *
 * @param iamConfig the configuration that svc-iam runs with
 * @param tokenFile the file that has the token
 */
export function clientsLine(
  addresses: Pick<Addresses, "iam">,
  iamConfig: string,
  tokenFile: string,
): string {
  const words = [process.execPath, join(IAM, "src/main.ts"), "client", "list"];
  const line = [...words, iamConfig, "--server", addresses.iam].map(shellWord);
  return `SYSTEM_TOKEN="$(cat ${shellWord(tokenFile)})" ${line.join(" ")}`;
}

/** The command that makes a link for the first owner, beside the running svc-iam. */
export function bootstrapProgram(plan: PlatformPlan): Program {
  const iam = iamProgram(plan);
  const args = ["bootstrap", plan.iamConfig, "--format", "json"];
  return { ...iam, name: "svc-iam bootstrap", args, ports: [] };
}

/** The Git service, which the hub calls. */
export function gitProgram({ ports, addresses, data, tokens }: PlatformPlan): Program {
  return {
    name: "git",
    main: join(HUB, "src/git/main.ts"),
    ports: [ports.GIT_GRPC_PORT, ports.GIT_METRICS_PORT],
    log: data.logFile("git"),
    environment: {
      ENVIRONMENT: "development",
      DATA: data.path,
      GIT_ADDRESS: addresses.gitGrpc,
      GIT_METRICS_ADDRESS: addresses.gitMetrics,
      HUB_TOKEN: tokens.hub,
    },
  };
}

/**
 * The hub, whose relationships svc-iam has.
 *
 * @param owner the id of the user who owns what the hub begins with
 */
export function hubProgram(
  { ports, addresses, data, tokens }: PlatformPlan,
  owner: string,
): Program {
  return {
    name: "hub",
    main: join(HUB, "src/hub/main.ts"),
    ports: [ports.HUB_HTTP_PORT, ports.HUB_GRPC_PORT, ports.HUB_METRICS_PORT],
    log: data.logFile("hub"),
    environment: {
      ENVIRONMENT: "development",
      DATA: data.path,
      AUTHZ_PROVIDER: "iam",
      HTTP_ADDRESS: `${HOST}:${ports.HUB_HTTP_PORT}`,
      GRPC_ADDRESS: addresses.hubGrpc,
      METRICS_ADDRESS: addresses.hubMetrics,
      GIT_ADDRESS: addresses.gitGrpc,
      IAM_ADDRESS: addresses.iamGrpc,
      IAM_ISSUER: `${addresses.iam}/v1/iam/oidc`,
      IAM_TOKEN: tokens.iam,
      HUB_TOKEN: tokens.hub,
      GIT_TOKEN: tokens.git,
      SYSTEM_TOKEN: tokens.system,
      SEED_OWNER: owner,
    },
  };
}
