import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import * as nodeModule from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";

/** The path of the check plugin's bundle, from this file. */
declare const CHECK_PLUGIN: string;
/** A hash of its content: V8 compares only the length of the source with its cached code. */
declare const CHECK_PLUGIN_HASH: string;

/** The part of the plugin that the start needs. */
interface CheckPlugin {
  /** @returns whether the request could be checked */
  answerStandardInput(): Promise<boolean>;
}

/**
 * Answers a Check.
 *
 * Most of the short start was spent compiling functions. The compile cache of Node.js does not
 * contain functions that are compiled at their first call; so this module stores the code itself,
 * after an answer. Whoever writes that file chooses what this user runs: so it is only kept where
 * nobody else can.
 */
async function start(): Promise<void> {
  const file = join(__dirname, CHECK_PLUGIN);
  const cache = cacheFile();
  const cachedData = cache === undefined ? undefined : readCache(cache);
  const script = new Script(readFileSync(file, "utf8"), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const loaded = { exports: {} as CheckPlugin };
  script.runInThisContext()(loaded.exports, require, loaded);
  const isChecked = await loaded.exports.answerStandardInput();
  const isKnown = cachedData !== undefined && script.cachedDataRejected === false;
  if (cache !== undefined && isChecked && !isKnown) writeCache(cache, script.createCachedData());
}

/** The mode bits that let the group or others write to a file. */
const WRITABLE_BY_OTHERS = 0o022;
/** The mode bit of a folder in which only owners rename and remove their files. */
const STICKY = 0o1000;
const ROOT_USER = 0;

/** The cache file for this version of Node.js. Undefined if no code is cached. */
function cacheFile(): string | undefined {
  // Windows has no such owners, so nothing is cached there.
  const user = process.geteuid?.();
  if (user === undefined || process.env["NODE_DISABLE_COMPILE_CACHE"] !== undefined) return;
  try {
    const folder = cacheFolder(user);
    if (folder === undefined || !isSafeFolder(folder, user)) return;
    return join(folder, `check-${CHECK_PLUGIN_HASH}-${process.version}-${process.arch}.cache`);
  } catch {
    return undefined;
  }
}

/** The folder of Node.js if the user has set one, else a folder of the user's own, which is made. */
function cacheFolder(user: number): string | undefined {
  const { NODE_COMPILE_CACHE: chosen, XDG_CACHE_HOME: caches = "", HOME: home = "" } = process.env;
  if (chosen !== undefined && chosen !== "") return nodeModule.getCompileCacheDir?.();
  if (isAbsolute(caches)) return made(join(caches, "svc-access"));
  if (!isAbsolute(home) || statSync(home).uid !== user) return;
  return made(join(home, ".cache", "svc-access"));
}

/** Makes a folder and its parent, but nothing above: a home that is missing stays so. */
function made(folder: string): string {
  for (const each of [dirname(folder), folder]) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch {
      // It is there, or the next look at it fails.
    }
  }
  return folder;
}

/** Whether no other user but root can write to the folder or replace it. */
function isSafeFolder(folder: string, user: number): boolean {
  const inside = lstatSync(folder);
  const around = lstatSync(dirname(folder));
  return (
    inside.isDirectory() &&
    isOnlyOf(user, inside) &&
    around.isDirectory() &&
    (isOnlyOf(user, around) || isOnlyOf(ROOT_USER, around) || isSticky(around, user))
  );
}

function isOnlyOf(user: number, { uid, mode }: Stats): boolean {
  return uid === user && (mode & WRITABLE_BY_OTHERS) === 0;
}

/** The owner of a sticky folder may still replace what is in it. */
function isSticky({ uid, mode }: Stats, user: number): boolean {
  return (mode & STICKY) !== 0 && (uid === user || uid === ROOT_USER);
}

/** The cached code, if the file is the user's own and nothing else is a name of it. */
function readCache(path: string): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = fstatSync(descriptor);
    const isOwn = stats.isFile() && stats.nlink === 1 && isOnlyOf(process.geteuid?.() ?? -1, stats);
    return isOwn ? readFileSync(descriptor) : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The rename keeps other processes from reading a partial file. */
function writeCache(path: string, data: Buffer): void {
  let next: string | undefined;
  try {
    const name = `${path}.${globalThis.crypto.randomUUID()}`;
    const descriptor = openSync(name, "wx", 0o600);
    next = name;
    try {
      writeFileSync(descriptor, data);
    } finally {
      closeSync(descriptor);
    }
    renameSync(next, path);
  } catch {
    // Without the cache, the next start is only slower.
    if (next !== undefined) remove(next);
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is small, and nothing reads it.
  }
}

/** Settles after the answer. */
export const answered: Promise<void> = start();
