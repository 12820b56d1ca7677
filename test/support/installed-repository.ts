import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Outcome, runProgram } from "./programs.ts";
import { runSvcAccess } from "./svc-access.ts";
import { ROOT } from "./workspace.ts";

/** The files of this checkout that npm would install. */
const PUBLISHED = ["package.json", "bin", "dist", "docs", "model", "proto", "schemas"];

/** A user's folder in which this package is installed, without npm. */
export class InstalledRepository {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-access-repository-")));

  constructor(files: Readonly<Record<string, string>> = {}) {
    linkPackages(this.folder, ["@bufbuild", "@types", "typescript"]);
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
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
    };
    const options = { cwd: this.folder, env };
    return command === "svc-access"
      ? runSvcAccess(args, options)
      : runProgram(command, args, options);
  }

  /** Runs a program that must succeed. @returns what it printed */
  must(command: string, ...args: string[]): string {
    const { status, stdout, stderr } = this.run(command, ...args);
    if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Commits all files that are not ignored. */
  commit(message: string): void {
    const author = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    this.must("git", "add", "--all");
    this.must("git", ...author, "commit", "--quiet", "--message", message);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Puts this package and others of this checkout into a folder's `node_modules`, as links. */
export function linkPackages(folder: string, others: readonly string[]): void {
  const link = (target: string, name: string): void => {
    const path = join(folder, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  };
  for (const name of PUBLISHED) link(join(ROOT, name), `svc-access/${name}`);
  for (const name of others) link(join(ROOT, "node_modules", name), name);
}
