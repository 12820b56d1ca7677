import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { BIN, type Outcome, runProgram } from "./programs.ts";
import { ROOT } from "./workspace.ts";

/** What of this checkout npm would install. */
const PUBLISHED = ["package.json", "bin", "dist", "docs", "model", "proto", "schemas"];

/** A user's folder in which this package is installed, without npm. */
export class InstalledRepository {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-access-repository-")));

  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const name of PUBLISHED) this.#link(join(ROOT, name), `svc-access/${name}`);
    for (const name of ["@bufbuild", "@types", "typescript"]) {
      this.#link(join(ROOT, "node_modules", name), name);
    }
    this.write("package.json", '{"private": true, "type": "module"}\n');
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  /** Writes a file, by its path in the repository. */
  write(name: string, content: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  /** Runs a program as `npx` would. */
  run(command: string, ...args: string[]): Outcome {
    const env = {
      PATH: [join(ROOT, "bin"), BIN, process.env["PATH"]].join(delimiter),
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
    };
    return runProgram(command, args, { cwd: this.folder, env });
  }

  /** Runs a program that must succeed. @returns what it printed */
  must(command: string, ...args: string[]): string {
    const { status, stdout, stderr } = this.run(command, ...args);
    if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Makes a commit of all that is not ignored. */
  commit(message: string): void {
    const author = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    this.must("git", "add", "--all");
    this.must("git", ...author, "commit", "--quiet", "--message", message);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #link(target: string, name: string): void {
    const path = join(this.folder, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  }
}
