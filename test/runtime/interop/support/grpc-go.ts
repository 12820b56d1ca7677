import { execFile, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Identity } from "../../tls/support/certificates.ts";

const VERSION = "1.85.0";

/** The time limit of a program. */
const LIMIT_MS = 30_000;

/** A server for the client to call. */
export interface Target {
  readonly port: number;
  /** The file of the CA of its certificate; absent for plain text. */
  readonly caFile?: string;
}

/** The server of grpc-go. */
export interface GoServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** The folder of the programs: `GRPC_INTEROP`, or where scripts/build-grpc-interop.sh builds them. */
function folderOfPrograms(): string | undefined {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const built = join(cache, "svc-access", `grpc-interop-${VERSION}`);
  return [process.env["GRPC_INTEROP"] ?? "", built].find(
    (folder) => folder !== "" && ["client", "server"].every((name) => isExecutable(folder, name)),
  );
}

/** Whether the tests with the programs of grpc-go are skipped, with a warning; never in CI. */
export function grpcGoIsAbsent(): boolean {
  if (folderOfPrograms() !== undefined) return false;
  const message =
    "there are no interoperability tests of grpc-go: set GRPC_INTEROP to their folder, or run scripts/build-grpc-interop.sh";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests with grpc-go: ${message}`);
  return true;
}

/**
 * Has the client run a case with a server; resolves to its errors, empty if there are none.
 *
 * @param serviceConfig gRPC's service_config of the client
 */
export function runGoClient(
  testCase: string,
  { port, caFile }: Target,
  serviceConfig?: object,
): Promise<string> {
  const tls = ["-use_tls", "-use_test_ca", `-ca_file=${caFile}`];
  const args = [
    // The speed of the machine does not matter here.
    "--soak_per_iteration_max_acceptable_latency_ms=60000",
    "--soak_overall_timeout_seconds=100",
    `-test_case=${testCase}`,
    "-server_host=localhost",
    `-server_port=${port}`,
    ...(caFile === undefined ? [] : tls),
    ...(serviceConfig === undefined
      ? []
      : [`-service_config_json=${JSON.stringify(serviceConfig)}`]),
  ];
  return new Promise((resolve) => {
    execFile(programOf("client"), args, { timeout: LIMIT_MS }, (error, _stdout, stderr) =>
      resolve(error === null ? "" : stderr || error.message),
    );
  });
}

/** Starts the server on a free port. @param identity its certificate; absent, plain text */
export async function startGoServer(identity?: Identity): Promise<GoServer> {
  const tls =
    identity === undefined
      ? []
      : [
          "-use_tls",
          `-tls_cert_file=${identity.certificateFile}`,
          `-tls_key_file=${identity.keyFile}`,
        ];
  const child = spawn(programOf("server"), ["-port=0", ...tls], {
    stdio: ["ignore", "ignore", "pipe"],
    // It logs its port only at this level.
    env: { ...process.env, GRPC_GO_LOG_SEVERITY_LEVEL: "info" },
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    const said: string[] = [];
    child.once("error", reject);
    void exited.then(() => reject(new Error(`the server of grpc-go ended: ${said.join("\n")}`)));
    createInterface(child.stderr).on("line", (line) => {
      said.push(line);
      const port = /listening on .*:(\d+)$/.exec(line)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
  return {
    port,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

function programOf(name: string): string {
  const folder = folderOfPrograms();
  if (folder === undefined) throw new Error("there are no programs of grpc-go");
  return join(folder, name);
}

function isExecutable(folder: string, name: string): boolean {
  try {
    accessSync(join(folder, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
