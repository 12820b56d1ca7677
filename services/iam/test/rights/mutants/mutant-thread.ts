/** Looks for a sequence that shows what is wrong, with a rule removed from the sources that this thread loads. */
import { registerHooks } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { type Mutant, mutate } from "./mutant.ts";

/** What the thread gets. */
export interface Search {
  readonly mutant: Mutant;
  readonly seed: number;
  /** The most sequences. */
  readonly most: number;
}

/** What it answers. */
export interface SearchResult {
  /** What is wrong; empty if nothing was found. */
  readonly found: readonly string[];
  readonly sequences: number;
}

const { mutant, seed, most } = workerData as Search;
const SOURCES = new URL("../../../src/", import.meta.url).href;
registerHooks({
  load(loaded, context, next) {
    const result = next(loaded, context);
    if (!loaded.startsWith(SOURCES)) return result;
    const source = mutate(String(result.source), loaded.slice(SOURCES.length), mutant);
    return { ...result, source };
  },
});

const { runSequence } = await import("../sequences.ts");
const { openWorldDatabase } = await import("../world-parts.ts");

async function search(): Promise<SearchResult> {
  await using database = await openWorldDatabase();
  for (let sequences = 1; sequences <= most; sequences++) {
    const { found } = await runSequence(seed + sequences, database);
    if (found.length > 0) return { found, sequences };
  }
  return { found: [], sequences: most };
}

parentPort?.postMessage(await search());
