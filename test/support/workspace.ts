import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of this repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** buf as the lock file pins it. */
export const BUF = join(ROOT, "node_modules/.bin/buf");

/** A folder of protos that can be built: the given files beside the annotation's. */
export class Workspace {
  readonly folder: string;

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
  }

  /** Builds the image of the `proto` module. */
  build(): Uint8Array {
    return execFileSync(BUF, ["build", "proto", "-o", "-"], {
      cwd: this.folder,
      maxBuffer: 1 << 30,
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
