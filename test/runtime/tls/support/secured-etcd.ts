import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { findEtcd } from "../../../support/etcd.ts";
import { freePort } from "../../../support/free-port.ts";
import { until } from "../../../support/until.ts";
import type { Identity } from "./certificates.ts";

/** A real etcd with TLS. */
export interface SecuredEtcd {
  readonly endpoint: string;
  /** Stops it, and removes its data. */
  remove(): Promise<void>;
}

/** Starts an etcd on free ports; with a client CA, clients must present a certificate of it. */
export async function startSecuredEtcd(
  server: Identity,
  ca: Identity,
  clientCa?: Identity,
): Promise<SecuredEtcd> {
  const binary = findEtcd();
  if (binary === undefined) throw new Error("there is no etcd");
  const folder = mkdtempSync(join(tmpdir(), "svc-access-etcd-tls-"));
  const port = await freePort();
  const endpoint = `https://localhost:${port}`;
  const listens = `https://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const clients =
    clientCa === undefined
      ? []
      : ["--client-cert-auth", `--trusted-ca-file=${clientCa.certificateFile}`];
  const child = spawn(
    binary,
    [
      "--name=test",
      `--data-dir=${join(folder, "data")}`,
      `--listen-client-urls=${listens}`,
      `--advertise-client-urls=${endpoint}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=test=${peer}`,
      `--cert-file=${server.certificateFile}`,
      `--key-file=${server.keyFile}`,
      ...clients,
    ],
    { stdio: "ignore" },
  );
  const exited = new Promise((resolve) => child.once("exit", resolve));
  await until(`etcd takes handshakes at ${endpoint}`, () => {
    if (child.exitCode !== null) throw new Error(`etcd exited with ${child.exitCode}`);
    return takesHandshakes(port, ca);
  });
  return {
    endpoint,
    async remove() {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function takesHandshakes(port: number, ca: Identity): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: "localhost", port, ca: ca.certificate };
    const socket = connect(options, () => resolve(true));
    socket.on("secureConnect", () => socket.destroy());
    socket.on("error", () => resolve(false));
  });
}
