/**
 * How long svc-iam takes to be ready in its container, beside the same bundle without a container, each
 * from the start of its process. What buildah takes before that is printed, and has no limit: platforms
 * start containers by other means. Skipped without images: `IMAGES` is what scripts/build-images.sh
 * printed. `node bench/iam/container.ts` runs it alone.
 */
import { spawn } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Container, imagesAreAbsent } from "../../test/deploy/container.ts";
import { freePort } from "../../test/support/free-port.ts";
import { isReady, secondsSinceStart } from "../service-start.ts";
import { atMost, median, note } from "../verdict.ts";

const ROUNDS = 7;
const LIMIT = 1.5;
/** The user of the image. */
const UID = 65532;
const CONFIGURATION = "/etc/svc-iam";
const IAM_FILE = join(import.meta.dirname, "../../services/iam/service.yaml");

/** What it took to be ready. */
interface Start {
  /** From the command on. */
  readonly seconds: number;
  /** From the start of the process on. */
  readonly ownSeconds: number;
}

/** Prints how the start compares. */
export async function benchIamContainer(): Promise<void> {
  process.stdout.write("\niam-container: svc-iam in its image, from its start to ready\n");
  if (imagesAreAbsent()) return;
  const folder = mkdtempSync(join(tmpdir(), "svc-access-bench-iam-container-"));
  const data = join(folder, "data");
  const configuration = join(folder, "configuration");
  for (const path of [data, configuration]) mkdirSync(path);
  chownSync(data, UID, UID);
  writeFileSync(join(configuration, "service.yaml"), configurationOf("/app"));
  const container = new Container("iam", { "/data": data, [CONFIGURATION]: configuration });
  try {
    await compare(container, folder);
  } finally {
    container.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(container: Container, folder: string): Promise<void> {
  const rounds: { readonly image: Start; readonly bare: Start }[] = [];
  // The first one makes the tables and the keys, and warms the disk.
  for (let round = -1; round < ROUNDS; round++) {
    const times = { bare: await startBare(container, folder), image: await startImage(container) };
    if (round >= 0) rounds.push(times);
  }
  const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
  atMost(
    "image / bundle",
    of(({ image, bare }) => image.ownSeconds / bare.ownSeconds),
    LIMIT,
  );
  const show = (side: "image" | "bare") => of((round) => round[side].ownSeconds).toFixed(3);
  note(`  the image ${show("image")} s, and the bundle ${show("bare")} s`);
  const before = of(({ image }) => image.seconds - image.ownSeconds).toFixed(3);
  note(`  buildah before the process of the image ${before} s`);
}

async function startImage(container: Container): Promise<Start> {
  const port = await freePort();
  const begin = performance.now();
  container.start(environmentOf(port));
  await untilReady(port, () => container.hasEnded);
  const start = startOf(container.pid, begin);
  await container.stop();
  return start;
}

/** Starts the files of the image with the Node.js of the image, on this machine. */
async function startBare({ root, config }: Container, folder: string): Promise<Start> {
  const file = join(folder, "bare.yaml");
  writeFileSync(file, configurationOf(join(root, "app")));
  const data = join(folder, "bare");
  mkdirSync(data, { recursive: true });
  const [program = "", ...args] = [...config.Entrypoint, ...config.Cmd].map((word) => {
    if (word.startsWith(CONFIGURATION)) return file;
    return word.startsWith("/") ? join(root, word) : word;
  });
  const ofImage = Object.fromEntries(config.Env.map((variable) => variable.split("=", 2)));
  const port = await freePort();
  const env = { ...ofImage, ...environmentOf(port), DATA: data };
  const begin = performance.now();
  const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  try {
    await untilReady(port, () => child.exitCode !== null);
    return startOf(child.pid, begin);
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

async function untilReady(port: number, hasEnded: () => boolean): Promise<void> {
  while (!(await isReady(port))) {
    if (hasEnded()) throw new Error("svc-iam has ended before it was ready");
    await sleep(2);
  }
}

function startOf(pid: number | undefined, begin: number): Start {
  return {
    seconds: (performance.now() - begin) / 1000,
    ownSeconds: secondsSinceStart(pid),
  };
}

function environmentOf(port: number): Record<string, string> {
  return {
    HTTP_ADDRESS: `127.0.0.1:${port}`,
    GRPC_ADDRESS: "127.0.0.1:0",
    METRICS_ADDRESS: "127.0.0.1:0",
    PUBLIC_URL: `http://localhost:${port}`,
  };
}

function configurationOf(app: string): string {
  return readFileSync(IAM_FILE, "utf8").replace("../../model/iam.zed", `${app}/model/iam.zed`);
}

if (import.meta.main) await benchIamContainer();
