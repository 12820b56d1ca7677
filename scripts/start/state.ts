import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PlatformError } from "./platform-error.ts";

/** What the first start has made, for the next ones. */
export interface Seeded {
  /** The ids of the users, by name. */
  readonly users: Readonly<Record<"alice" | "bob" | "carol", string>>;
  /** The service account, with its secret. */
  readonly account: { readonly id: string; readonly secret: string };
  /** The number of the project. */
  readonly project: string;
}

/** What is kept besides the databases. */
export interface State {
  /** The password of the users, made at random. */
  readonly password: string;
  /** Absent until everything has been made. */
  readonly seeded?: Seeded;
}

const FILE = "platform.json";
const SYSTEM_TOKEN = "system-token";
const PASSWORD_BYTES = 12;

/** The data folder of the platform: databases, logs and state. Only its owner reads it. */
export class DataFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The file of the log of a service. */
  logFile(name: string): string {
    return join(this.path, `${name}.log`);
  }

  /**
   * Removes the folder, if it is one of the platform.
   *
   * @throws PlatformError where it is another folder
   */
  remove(): void {
    if (!existsSync(this.path)) return;
    if (!existsSync(join(this.path, FILE))) {
      throw new PlatformError(
        `${this.path} has no ${FILE}, so it is not removed: name the data folder with DATA`,
        2,
      );
    }
    rmSync(this.path, { recursive: true, force: true });
  }

  /** The state; of a new folder, a new one. */
  open(): State {
    const file = join(this.path, FILE);
    if (existsSync(file)) return this.#read(file);
    makeFolder(this.path);
    const state = { password: randomBytes(PASSWORD_BYTES).toString("base64url") };
    this.save(state);
    return state;
  }

  /** Replaces the state. */
  save(state: State): void {
    this.#replace(join(this.path, FILE), `${JSON.stringify(state, undefined, 2)}\n`);
  }

  /** The file of the system token of this run. */
  get systemTokenFile(): string {
    return join(this.path, SYSTEM_TOKEN);
  }

  /** Replaces the system token: commands of the same person read it. */
  saveSystemToken(token: string): void {
    this.#replace(this.systemTokenFile, `${token}\n`);
  }

  #replace(file: string, text: string): void {
    // One that is left over may be readable by others.
    rmSync(`${file}.new`, { force: true });
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  #read(file: string): State {
    try {
      const state: State = JSON.parse(readFileSync(file, "utf8"));
      if (typeof state.password === "string") return state;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw new PlatformError(`${file} is damaged: begin anew with npm start -- --fresh`, 2);
  }
}

/**
 * Makes a folder and those above it. Level by level: with `recursive`, Node.js tries for ever where a
 * file system such as /proc says that a folder above does not exist.
 *
 * @throws PlatformError if it cannot be made
 */
function makeFolder(path: string): void {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return;
    throw new PlatformError(`${path} is not a folder: name the data folder with DATA`, 2);
  }
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another process has made it.
    if (code === "EEXIST" && existsSync(path)) return;
    if (code === "EEXIST") {
      const fix = "remove the link, or name another folder with DATA";
      throw new PlatformError(`${path} is a link to nothing: ${fix}`, 2);
    }
    throw new PlatformError(
      `the folder ${path} cannot be made (${code}): name another data folder with DATA`,
      2,
    );
  }
}
