import { randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { CommandError } from "../run/command-error.ts";
import { unreadable } from "../run/input.ts";
import { isPrivate } from "./server-url.ts";
import { isAccessToken, isRefreshToken } from "./token-texts.ts";

/** A login that commands use until it ends. */
export interface SavedLogin {
  /** The origin of the server, as `https://iam.example.com`. */
  readonly server: string;
  /** The issuer of its tokens. */
  readonly issuer: string;
  /** The client that the command line is at the issuer. */
  readonly clientId: string;
  readonly accessToken: string;
  /** When the access token expires, in milliseconds since the epoch. */
  readonly expires: number;
  /** Absent if the issuer gives none: then the login ends with the access token. */
  readonly refreshToken?: string;
  /** The organization of the person, which the calls of the directory name. */
  readonly organizationId: string;
  /** The person's user name, or id if there is none; empty while the server has not said whose the login is. */
  readonly username: string;
}

const MAX_BYTES = 1 << 18;
const ANOTHER_FILE = "name another file in SVC_IAM_LOGIN_FILE";
/** The last time that a date can be. */
const LAST_MS = 8.64e15;
const TEXTS = [
  "server",
  "issuer",
  "clientId",
  "accessToken",
  "organizationId",
  "username",
] as const;

/**
 * Where the login is kept: `SVC_IAM_LOGIN_FILE`, or a file of the user's state (XDG).
 *
 * @throws CommandError if the user has no home folder
 */
export function loginFile(env: NodeJS.ProcessEnv = process.env, homeOf = homedir): string {
  const named = env["SVC_IAM_LOGIN_FILE"];
  if (named !== undefined && named !== "") return named;
  const state = env["XDG_STATE_HOME"];
  // The standard ignores a path that is not absolute.
  const folder =
    state !== undefined && isAbsolute(state) ? state : join(home(homeOf), ".local", "state");
  return join(folder, "svc-iam", "login.json");
}

/** The home of this user. A container may run as a user whom its system does not know, without HOME. */
function home(homeOf: () => string): string {
  try {
    return homeOf();
  } catch (error) {
    throw new CommandError(
      "this user has no home folder, where the login is kept: set HOME or SVC_IAM_LOGIN_FILE",
      { cause: error },
    );
  }
}

/**
 * Reads the login.
 *
 * @returns undefined if nobody is logged in
 * @throws CommandError if others can read the file, or it is not a login
 */
export function readLogin(file = loginFile()): SavedLogin | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unreadable(file, error);
  }
  try {
    const stats = fstatSync(descriptor);
    const { mode, size } = stats;
    if (!stats.isFile()) {
      throw new CommandError(`${file} is not a file: remove it, or ${ANOTHER_FILE}`);
    }
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new CommandError(`others may read ${file}, which has a login: run chmod 600 ${file}`);
    }
    const login = size > MAX_BYTES ? undefined : parse(readFileSync(descriptor, "utf8"));
    if (login !== undefined) return login;
    throw new CommandError(`${file} is not a login: remove it, and run svc-iam login`);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Stores the login at once: another command sees the former one or this one.
 *
 * @throws CommandError if the file cannot be written, or could not be read again
 */
export function writeLogin(login: SavedLogin, file = loginFile()): void {
  const text = `${JSON.stringify(login)}\n`;
  if (Buffer.byteLength(text) > MAX_BYTES || parse(text) === undefined) {
    throw new CommandError(
      `the login cannot be stored, since what ${login.server} says of it is not a login, or has more than ${MAX_BYTES} bytes: check the address`,
    );
  }
  const fresh = `${file}.${randomUUID()}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(fresh, text, { mode: 0o600, flag: "wx" });
    renameSync(fresh, file);
  } catch (error) {
    try {
      rmSync(fresh, { force: true });
    } catch {
      // What prevents the write may prevent this too, and is the error to report.
    }
    throw unwritable(file, "written", error);
  }
}

/** Removes the login, if there is one. */
export function removeLogin(file = loginFile()): void {
  try {
    rmSync(file, { force: true });
  } catch (error) {
    throw unwritable(file, "removed", error);
  }
}

function unwritable(file: string, what: "written" | "removed", error: unknown): CommandError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new CommandError(
    `${file} cannot be ${what} (${code ?? message}): let this user write to its folder, or ${ANOTHER_FILE}`,
    { cause: error },
  );
}

function parse(text: string): SavedLogin | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const hasTexts = TEXTS.every((name) => typeof fields[name] === "string");
  const { server, issuer, accessToken, expires, refreshToken } = fields;
  // It is sent to these, and printed by svc-iam token, whoever has written the file.
  const isValid =
    hasTexts &&
    [server, issuer].every((url) => isPrivateUrl(url as string)) &&
    isAccessToken(accessToken as string) &&
    typeof expires === "number" &&
    Math.abs(expires) <= LAST_MS &&
    (refreshToken === undefined ||
      (typeof refreshToken === "string" && isRefreshToken(refreshToken)));
  return isValid ? (value as SavedLogin) : undefined;
}

function isPrivateUrl(text: string): boolean {
  return URL.canParse(text) && isPrivate(new URL(text));
}
