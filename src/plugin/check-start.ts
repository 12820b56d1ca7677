import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { basename, join } from "node:path";
import { Script } from "node:vm";

/** The file name of the check plugin's bundle, which the build derives from its content. */
declare const CHECK_PLUGIN: string;

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
 * after an answer, in the cache folder of Node.js.
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

/** The cache file, for this version of Node.js and this user. Undefined if caching is off. */
function cacheFile(): string | undefined {
  nodeModule.enableCompileCache?.();
  const folder = nodeModule.getCompileCacheDir?.();
  return folder === undefined ? undefined : join(folder, `${basename(CHECK_PLUGIN)}.cache`);
}

/** Others may be able to write to the folder, and the cached code is run, so the file must belong to this user. */
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

/** The rename keeps other processes from reading a partial file. */
function writeCache(path: string, data: Buffer): void {
  const next = `${path}.${process.pid}`;
  try {
    writeFileSync(next, data, { mode: 0o600 });
    renameSync(next, path);
  } catch {
    // Without the cache, the next start is only slower.
  }
}

/** Settles after the answer. */
export const answered: Promise<void> = start();
