/**
 * How long the hub of `examples/` takes from its start to being ready: a process of its own, with
 * six services, the embedded engine over SQLite, HTTP, gRPC and metrics. It runs the bundles in
 * `dist/`; its own code as JavaScript, as it is deployed, and as TypeScript, which Node turns into
 * JavaScript at each start. `node bench/runtime-start.ts` runs it alone.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const RUNS = 7;
const LIMIT_S = 0.5;
const MAIN = new URL("../examples/hub/src/hub/main.ts", import.meta.url).pathname;
/** Beside the source, from where it finds its files; not committed. */
const BUILT = MAIN.replace("main.ts", "main.bench.mjs");

/** Prints the median of some starts, to the first `/readyz` that says ready. */
export async function benchRuntimeStart(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), "svc-access-bench-start-"));
  try {
    await build({
      entryPoints: [MAIN],
      outfile: BUILT,
      bundle: true,
      packages: "external",
      format: "esm",
      platform: "node",
      logLevel: "warning",
    });
    process.stdout.write("\nruntime-start: the hub, from its start to ready\n");
    const built = await starts(BUILT, data);
    process.stdout.write(
      `  ${"seconds".padEnd(44)} ${built.toFixed(2)}    at most ${LIMIT_S}  ${built <= LIMIT_S ? "holds" : "DOES NOT HOLD"}\n`,
    );
    const source = await starts(MAIN, data);
    process.stdout.write(`  ${"from its TypeScript".padEnd(44)} ${source.toFixed(2)}\n`);
  } finally {
    rmSync(BUILT, { force: true });
    rmSync(data, { recursive: true, force: true });
  }
}

/** The median of some starts, in seconds. */
async function starts(main: string, data: string): Promise<number> {
  const seconds: number[] = [];
  // The first one makes the database, and warms the disk.
  for (let run = -1; run < RUNS; run++) {
    const time = await startOnce(main, data);
    if (run >= 0) seconds.push(time);
  }
  seconds.sort((left, right) => left - right);
  return seconds[Math.floor(RUNS / 2)] ?? 0;
}

async function startOnce(main: string, data: string): Promise<number> {
  const port = await freePort();
  const env = {
    ...process.env,
    DATA: data,
    HTTP_ADDRESS: `127.0.0.1:${port}`,
    GRPC_ADDRESS: "127.0.0.1:0",
    METRICS_ADDRESS: "127.0.0.1:0",
    HUB_TOKEN: "a-token-for-the-bench-only",
    GIT_TOKEN: "another-token-for-the-bench",
    SYSTEM_TOKEN: "a-third-token-for-the-bench",
  };
  const begin = performance.now();
  const hub = spawn(process.execPath, [main], { env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = new Promise<never>((_, reject) => {
    hub.once("exit", (code) => reject(new Error(`the hub has ended with ${code}`)));
  });
  ended.catch(() => undefined);
  try {
    while (!(await Promise.race([isReady(port), ended]))) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return (performance.now() - begin) / 1000;
  } finally {
    hub.kill("SIGTERM");
    await ended.catch(() => undefined);
  }
}

/** Asks by hand: a client that is refused a hundred times would cost more than the start. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    });
    socket.once("data", (answer) => {
      socket.destroy();
      resolve(answer.includes(" 200 OK"));
    });
    socket.once("error", () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

if (import.meta.main) await benchRuntimeStart();
