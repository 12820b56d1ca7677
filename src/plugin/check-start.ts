import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { basename, join } from "node:path";
import { Script } from "node:vm";

/** The bundle of the check plugin, by the name that the build gives to its content. */
declare const CHECK_PLUGIN: string;

/** The plugin, as far as its start needs it. */
interface CheckPlugin {
  /** @returns whether the request could be judged */
  answerStandardInput(): Promise<boolean>;
}

/**
 * Answers a Check.
 *
 * A start is short, and most of it went into compiling functions. What Node.js keeps of compiled
 * modules has none that are compiled when they are first called; so the code is kept here, after
 * an answer, in the folder that Node.js has for it.
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
  const isJudged = await loaded.exports.answerStandardInput();
  const isKnown = cachedData !== undefined && script.cachedDataRejected === false;
  if (cache !== undefined && isJudged && !isKnown) writeCache(cache, script.createCachedData());
}

/** Of the mode of a file: its group, or anybody, may write to it. */
const WRITABLE_BY_OTHERS = 0o022;

/** Where the code is kept: of this version of Node.js and this user. Undefined where nothing is to be kept. */
function cacheFile(): string | undefined {
  nodeModule.enableCompileCache?.();
  const folder = nodeModule.getCompileCacheDir?.();
  return folder === undefined ? undefined : join(folder, `${basename(CHECK_PLUGIN)}.cache`);
}

/** The folder may be one that others write to, and what is read is run: only this user's own file is. */
function readCache(path: string): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    const { uid, mode } = fstatSync(descriptor);
    const isOwn = uid === (process.getuid?.() ?? uid) && (mode & WRITABLE_BY_OTHERS) === 0;
    return isOwn || process.platform === "win32" ? readFileSync(descriptor) : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Whoever reads it meanwhile meets no half of it. */
function writeCache(path: string, data: Buffer): void {
  const next = `${path}.${process.pid}`;
  try {
    writeFileSync(next, data, { mode: 0o600 });
    renameSync(next, path);
  } catch {
    // A folder that cannot be written only keeps the next start from being quick.
  }
}

/** Settled after the answer. */
export const answered: Promise<void> = start();
