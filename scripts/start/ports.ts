import { createServer } from "node:net";
import { PlatformError } from "./platform-error.ts";
import type { PortReport } from "./port-report.ts";

/** Where everything listens: this machine only, since the passwords are shown on the terminal. */
export const HOST = "127.0.0.1";

/** The environment variable of each port, what uses it, and the port of the specification. */
const PORTS = {
  IAM_HTTP_PORT: ["HTTP of svc-iam", 18080],
  IAM_GRPC_PORT: ["gRPC of svc-iam", 19080],
  IAM_METRICS_PORT: ["the metrics of svc-iam", 19180],
  HUB_HTTP_PORT: ["HTTP of the hub", 18001],
  HUB_GRPC_PORT: ["gRPC of the hub", 19001],
  HUB_METRICS_PORT: ["the metrics of the hub", 19101],
  GIT_GRPC_PORT: ["gRPC of the Git service", 19002],
  GIT_METRICS_PORT: ["the metrics of the Git service", 19102],
} as const;

type PortVariable = keyof typeof PORTS;

/** The port of each variable. */
export type Ports = Readonly<Record<PortVariable, number>>;

const VARIABLES = Object.keys(PORTS) as readonly PortVariable[];

/**
 * The ports of an environment.
 *
 * @throws PlatformError where one is not a port, or is given twice
 */
export function readPorts(environment: NodeJS.ProcessEnv): Ports {
  const users = new Map<number, PortVariable>();
  const entries = VARIABLES.map((variable): [PortVariable, number] => {
    const text = environment[variable] ?? "";
    const port = text === "" ? PORTS[variable][1] : Number(text);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new PlatformError(`${variable} is not a port: write a number of 1 to 65535`, 2);
    }
    const other = users.get(port);
    if (other !== undefined) {
      throw new PlatformError(`${variable} and ${other} are the same port, ${port}`, 2);
    }
    users.set(port, variable);
    return [variable, port];
  });
  return Object.fromEntries(entries) as Ports;
}

/**
 * Checks that nobody listens on the ports, before anything is started.
 *
 * @throws PlatformError with the first port that is taken
 */
export async function requireFreePorts(ports: Ports): Promise<void> {
  for (const variable of VARIABLES) {
    const code = await whyNotFree(ports[variable]);
    if (code !== undefined) throw portError(ports, variable, code);
  }
}

/**
 * The error of a process that could not listen on its port: it was taken after the check of all ports.
 * Undefined where the port is none of them.
 */
export function refusedPort(ports: Ports, { port, code }: PortReport): PlatformError | undefined {
  const variable = VARIABLES.find((name) => ports[name] === port);
  if (variable === undefined || code === undefined) return undefined;
  return portError(ports, variable, code);
}

function portError(ports: Ports, variable: PortVariable, code: string): PlatformError {
  const reason = code === "EADDRINUSE" ? "is taken" : `cannot be used (${code})`;
  const what = `port ${ports[variable]}, for ${PORTS[variable][0]}, ${reason}`;
  return new PlatformError(`${what}: choose another with ${variable}=… npm start`, 2);
}

function whyNotFree(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host: HOST, exclusive: true }, () => {
      server.close(() => resolve(undefined));
    });
  });
}
