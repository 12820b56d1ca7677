import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** The programs that the emitted files are run by. */
export interface GatewayPrograms {
  readonly envoyGateway: string;
  readonly envoy: string;
}

const CACHE = join(
  process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
  "svc-access/envoy-gateway-1.9.0-envoy-1.39.3",
);

/** Envoy Gateway and Envoy: `ENVOY_GATEWAY` and `ENVOY`, on the PATH, or as scripts/build-envoy-gateway.sh put them. */
export function findPrograms(): GatewayPrograms | undefined {
  const envoyGateway = find("envoy-gateway", process.env["ENVOY_GATEWAY"]);
  const beside = envoyGateway === undefined ? [] : [join(dirname(envoyGateway), "envoy")];
  const envoy = find("envoy", process.env["ENVOY"], ...beside);
  return envoyGateway === undefined || envoy === undefined ? undefined : { envoyGateway, envoy };
}

function find(name: string, ...first: (string | undefined)[]): string | undefined {
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = [...first, ...path.map((folder) => join(folder, name)), join(CACHE, name)];
  return candidates.find((candidate) => candidate !== undefined && isExecutable(candidate));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== "";
  } catch {
    return false;
  }
}

/**
 * The command that runs another one in a network of its own, with a loopback only. Envoy Gateway has
 * fixed ports, and tests may run twice at the same time.
 */
export function ownNetwork(): readonly string[] | undefined {
  const up = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
  return [
    ["unshare", "--net", ...up],
    ["unshare", "--map-root-user", "--net", ...up],
  ].find(([command = "", ...args]) => spawnSync(command, [...args, "true"]).status === 0);
}

/** Whether the test on a real gateway is skipped: loudly; in CI nothing may be missing. */
export function gatewayIsAbsent(): boolean {
  const missing =
    findPrograms() === undefined
      ? "there is no Envoy Gateway with an Envoy: set ENVOY_GATEWAY and ENVOY, or run scripts/build-envoy-gateway.sh"
      : ownNetwork() === undefined
        ? "there is no network of its own for it: that needs ip, and the right to unshare --net"
        : undefined;
  if (missing === undefined) return false;
  if (process.env["CI"] === "true") throw new Error(missing);
  console.warn(`SKIPPED, the test on a real gateway: ${missing}`);
  return true;
}
