/** Containers of the images that scripts/build-images.sh makes, run by buildah: no daemon, no registry. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const PATIENCE_MS = 60_000;

/** What an image says of how it is run. */
export interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** The command of buildah with the images, from `IMAGES`: what scripts/build-images.sh printed. */
function buildahCommand(): readonly string[] {
  return (process.env["IMAGES"] ?? "").split(" ").filter((word) => word !== "");
}

/** Whether tests of images are skipped, with a warning; never in CI. */
export function imagesAreAbsent(): boolean {
  if (buildahCommand().length > 0) return false;
  const message = "there are no images: set IMAGES to the output of scripts/build-images.sh";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests of container images: ${message}`);
  return true;
}

/** A container of an image of ours. */
export class Container {
  readonly config: ImageConfig;
  /** The folder of its file system on this machine. */
  readonly root: string;
  readonly #name: string;
  #child: ChildProcess | undefined;
  #output = "";

  readonly #mounts: Readonly<Record<string, string>>;

  /**
   * @param image `iam` or `hub`
   * @param mounts folders and files of this machine, by the path inside
   */
  constructor(image: string, mounts: Readonly<Record<string, string>> = {}) {
    this.#mounts = mounts;
    const name = `localhost/svc-access-${image}`;
    this.config = JSON.parse(buildah("inspect", "--type", "image", name)).Docker.config;
    this.#name = buildah("from", name).trim();
    this.root = buildah("mount", this.#name).trim();
  }

  get output(): string {
    return this.#output;
  }

  /**
   * Starts the image's own command, as its user, on a file system that it cannot write except its volumes, as
   * Kubernetes and compose do. buildah has no option for that: the mounts are made here.
   */
  startReadOnly(environment: Readonly<Record<string, string>>): void {
    const { Entrypoint, Cmd, Env, User } = this.config;
    const mounts = Object.entries({ "/dev": "/dev", "/proc": "/proc", ...this.#mounts });
    for (const [inside] of mounts) mkdirSync(join(this.root, inside), { recursive: true });
    const script = [
      'mount --bind "$0" "$0"',
      'mount -o remount,ro,bind "$0"',
      ...mounts.map(([inside, path]) => `mount --rbind '${path}' "$0${inside}"`),
      'exec env -i "$@"',
    ].join(" && ");
    const variables = [...Env, ...Object.entries(environment).map((pair) => pair.join("="))];
    const chroot = ["/usr/sbin/chroot", `--userspec=${User}`, this.root, ...Entrypoint, ...Cmd];
    this.#run("unshare", ["--mount", "sh", "-c", script, this.root, ...variables, ...chroot]);
  }

  /**
   * Starts the image's own command, as its user.
   *
   * @param args instead of those of the image
   */
  start(
    environment: Readonly<Record<string, string>>,
    args: readonly string[] = this.config.Cmd,
  ): void {
    const [program = "", ...options] = buildahCommand();
    const command = [...this.config.Entrypoint, ...args];
    const run = ["run", "--isolation", "chroot", "--user", this.config.User];
    const variables = Object.entries(environment).flatMap(([key, value]) => [
      "--env",
      `${key}=${value}`,
    ]);
    const volumes = Object.entries(this.#mounts).flatMap(([inside, path]) => [
      "--volume",
      `${path}:${inside}`,
    ]);
    const all = [...options, ...run, ...variables, ...volumes, this.#name, "--", ...command];
    this.#run(program, all);
  }

  #run(program: string, args: readonly string[]): void {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        this.#output += chunk;
      });
    }
    this.#child = child;
  }

  get hasEnded(): boolean {
    return this.#child?.exitCode !== null;
  }

  /** The process of the service itself: the chroot shares the processes of this machine. */
  get pid(): number {
    const program = this.config.Entrypoint[0] ?? "";
    const own = this.#child?.pid ?? 0;
    const found = [own, ...descendants(own)].find((pid) => {
      const [first] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return first === program;
    });
    if (found === undefined) throw new Error(`no ${program} runs:\n${this.#output}`);
    return found;
  }

  /** Runs a command in the container beside the service. @returns its exit code */
  exec(command: readonly string[], environment: readonly string[] = this.config.Env): number {
    const variables = environment.flatMap((variable) => ["--env", variable]);
    const user = ["--user", this.config.User];
    try {
      buildah("run", "--isolation", "chroot", ...user, ...variables, this.#name, "--", ...command);
      return 0;
    } catch (error) {
      return (error as { status: number }).status;
    }
  }

  /**
   * Sends SIGTERM to the service.
   *
   * @param mostMs until it must have ended
   * @returns the exit code
   */
  async stop(mostMs = PATIENCE_MS): Promise<number | null> {
    const child = this.#child as ChildProcess;
    const ended = once(child, "exit", { signal: AbortSignal.timeout(mostMs) });
    process.kill(this.pid, "SIGTERM");
    const [code] = await ended.catch((cause: unknown) => {
      throw new Error(`it runs ${mostMs} ms after SIGTERM:\n${this.#output}`, { cause });
    });
    return code;
  }

  /** The files that are not as they were, added or removed ones among them; volumes do not count. */
  changed(before: ReadonlyMap<string, string>): string[] {
    const after = this.files();
    const all = new Set([...before.keys(), ...after.keys()]);
    return [...all].filter((path) => before.get(path) !== after.get(path));
  }

  /** Each file of the image, with its kind, mode, owner and content. */
  files(): Map<string, string> {
    const found = new Map<string, string>();
    const skipped = new Set([
      "dev",
      "proc",
      "sys",
      "run",
      ...[...this.volumes, ...Object.keys(this.#mounts)].map((path) => path.slice(1)),
    ]);
    const visit = (folder: string) => {
      for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        const inside = relative(this.root, path);
        // They belong to the machine, or are volumes; buildah makes those of the network itself.
        if (skipped.has(inside) || /^etc\/(hosts|hostname|resolv\.conf)$/.test(inside)) continue;
        const { mode, uid, gid, size } = lstatSync(path);
        const isFile = (mode & 0o170000) === 0o100000;
        const content = isFile ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
        found.set(inside, `${mode.toString(8)} ${uid}:${gid} ${isFile ? size : ""} ${content}`);
        if ((mode & 0o170000) === 0o040000) visit(path);
      }
    };
    visit(this.root);
    return found;
  }

  get volumes(): string[] {
    return Object.keys(this.config.Volumes);
  }

  remove(): void {
    this.#child?.kill("SIGKILL");
    try {
      process.kill(this.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
    buildah("umount", this.#name);
    buildah("rm", this.#name);
  }
}

function buildah(...args: string[]): string {
  const [program = "", ...options] = buildahCommand();
  return execFileSync(program, [...options, ...args], { encoding: "utf8", stdio: "pipe" });
}

function descendants(pid: number): number[] {
  // Any thread of a process may have started another.
  const own = readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" "))
    .filter((word) => word !== "");
  return own.map(Number).flatMap((child) => [child, ...descendants(child)]);
}
