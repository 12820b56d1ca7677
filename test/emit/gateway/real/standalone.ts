/** Envoy Gateway without Kubernetes: it reads files, and starts Envoy. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { CLIENT_SECRET } from "./platform.ts";
import type { GatewayPrograms } from "./programs.ts";

const ENVOY_VERSION = "1.39.3";
const GROUP = "gateway.envoyproxy.io/v1alpha1";

/** A running Envoy Gateway. */
export interface Standalone {
  readonly child: ChildProcess;
  /** All that it logged so far. */
  log(): string;
}

/**
 * Runs the emitted files.
 *
 * @param folder - where its files, logs and state are
 * @param emitted - the folder that `svc-access generate` wrote to
 */
export function startStandalone(
  { envoyGateway, envoy }: GatewayPrograms,
  folder: string,
  emitted: string,
): Standalone {
  const home = (name: string) => join(folder, name);
  const bin = join(home("data"), "envoy-versions", ENVOY_VERSION, "bin");
  for (const path of [bin, home("config"), home("state"), home("run"), home("base")]) {
    mkdirSync(path, { recursive: true });
  }
  copyFileSync(envoy, join(bin, "envoy"));
  writeFileSync(join(home("base"), "base.yaml"), base());
  const gateway = join(emitted, "gateway");
  const hosts = readdirSync(join(gateway, "hosts")).map((host) => join(gateway, "hosts", host));
  const configuration = {
    apiVersion: GROUP,
    kind: "EnvoyGateway",
    gateway: { controllerName: "gateway.envoyproxy.io/gatewayclass-controller" },
    provider: {
      type: "Custom",
      custom: {
        resource: { type: "File", file: { paths: [home("base"), gateway, ...hosts] } },
        infrastructure: {
          type: "Host",
          host: {
            configHome: home("config"),
            dataHome: home("data"),
            stateHome: home("state"),
            runtimeDir: home("run"),
          },
        },
      },
    },
    extensionApis: { enableBackend: true },
  };
  writeFileSync(join(folder, "envoy-gateway.yaml"), stringify(configuration));
  execFileSync(envoyGateway, ["certgen", "--local", "--config-home", home("config")], {
    stdio: "ignore",
  });
  const child = spawn(
    envoyGateway,
    ["server", "--config-path", join(folder, "envoy-gateway.yaml")],
    { cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
  );
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
  }
  return { child, log: () => log };
}

/** What the operator supplies: the class, how Envoy is run, and the secrets. */
function base(): string {
  const proxy = { name: "host", namespace: "edge" };
  return [
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "GatewayClass",
      metadata: { name: "envoy-gateway" },
      spec: {
        controllerName: "gateway.envoyproxy.io/gatewayclass-controller",
        parametersRef: { group: "gateway.envoyproxy.io", kind: "EnvoyProxy", ...proxy },
      },
    },
    {
      apiVersion: GROUP,
      kind: "EnvoyProxy",
      metadata: proxy,
      spec: { provider: { type: "Host", host: { envoyVersion: ENVOY_VERSION } } },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "hub-frontend-oidc", namespace: "hub" },
      data: { "client-secret": Buffer.from(CLIENT_SECRET).toString("base64") },
    },
  ]
    .map((document) => stringify(document))
    .join("---\n");
}
