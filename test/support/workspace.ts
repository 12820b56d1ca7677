import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of this repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The variable that names the temporary folder of a run of the tests. */
export const RUN_FOLDER = "TEST_RUN_FOLDER";

const NATIVE_BUF = join(ROOT, `node_modules/@bufbuild/buf-${process.platform}-${process.arch}/bin`);

/** The folder of buf as the lock file pins it: of the program itself, which npm's buf starts by way of Node. */
export const BUF_FOLDER = existsSync(NATIVE_BUF) ? NATIVE_BUF : join(ROOT, "node_modules/.bin");

export const BUF = join(BUF_FOLDER, "buf");

/** The images that this process has built, by their files. */
const images = new Map<string, Uint8Array>();

/** A folder of protos that can be built: the given files and those of the annotation. */
export class Workspace {
  readonly folder: string;
  readonly #files = new Map<string, string>();

  constructor(files: Readonly<Record<string, string>>) {
    this.folder = mkdtempSync(join(tmpdir(), "svc-access-test-"));
    for (const module of ["svc/access", "google"]) {
      cpSync(join(ROOT, "proto", module), join(this.folder, "vendor", module), { recursive: true });
    }
    this.write("buf.yaml", "version: v2\nmodules:\n  - path: proto\n  - path: vendor\n");
    mkdirSync(join(this.folder, "proto"));
    for (const [name, content] of Object.entries(files)) this.write(`proto/${name}`, content);
  }

  /** Writes a file, by its path in the workspace. */
  write(name: string, content: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    this.#files.set(name, content);
  }

  /** Builds the image of the `proto` module; buf is started once for the same files. */
  build(): Uint8Array {
    const key = JSON.stringify([...this.#files].sort());
    const image =
      images.get(key) ??
      execFileSync(BUF, ["build", "proto", "-o", "-"], {
        cwd: this.folder,
        maxBuffer: 1 << 30,
        stdio: ["ignore", "pipe", "pipe"],
      });
    images.set(key, image);
    return Buffer.from(image);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
