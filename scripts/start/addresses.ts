import { HOST, type Ports } from "./ports.ts";

/** Where the services answer. */
export interface Addresses {
  /** `iam.public_url`: cookies of logins and the issuer of tokens belong to it. */
  readonly iam: string;
  readonly iamGrpc: string;
  readonly iamMetrics: string;
  readonly hub: string;
  readonly hubGrpc: string;
  readonly hubMetrics: string;
  readonly gitGrpc: string;
  readonly gitMetrics: string;
}

/** The addresses of the ports, as people and services write them. */
export function addressesOf(ports: Ports): Addresses {
  return {
    iam: `http://localhost:${ports.IAM_HTTP_PORT}`,
    iamGrpc: `${HOST}:${ports.IAM_GRPC_PORT}`,
    iamMetrics: `${HOST}:${ports.IAM_METRICS_PORT}`,
    hub: `http://localhost:${ports.HUB_HTTP_PORT}`,
    hubGrpc: `${HOST}:${ports.HUB_GRPC_PORT}`,
    hubMetrics: `${HOST}:${ports.HUB_METRICS_PORT}`,
    gitGrpc: `${HOST}:${ports.GIT_GRPC_PORT}`,
    gitMetrics: `${HOST}:${ports.GIT_METRICS_PORT}`,
  };
}
