import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A disk of a few megabytes in memory, which can be filled. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves this many free pages of 4 KiB. What is in the logs of the databases goes to them first. */
  fill(pages: number): void;
  /** Frees all space again. */
  free(): void;
  remove(): void;
}

const PAGE = 4096;

/** Mounts one; undefined if this user may not. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const parent = mkdtempSync(join(tmpdir(), "svc-iam-disk-"));
  const folder = join(parent, "disk");
  mkdirSync(folder);
  const mounting = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "none", folder];
  if (spawnSync("mount", mounting).status !== 0) {
    rmSync(parent, { recursive: true });
    return undefined;
  }
  const filler = join(folder, "filler");
  const free = () => rmSync(filler, { force: true });
  return {
    folder,
    fill(pages) {
      free();
      // A log that was written before has room for more.
      for (const name of readdirSync(folder))
        if (name.endsWith(".db")) emptyLog(join(folder, name));
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - pages * PAGE)));
    },
    free,
    remove() {
      execFileSync("umount", [folder]);
      rmSync(parent, { recursive: true });
    },
  };
}

function emptyLog(file: string): void {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database.prepare("pragma wal_checkpoint(truncate)").get();
  database.close();
}
