import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IS_THOROUGH } from "./effort.ts";

/** Files in memory, on Linux. */
const MEMORY = "/dev/shm";
/** Several times what a run of all tests needs. */
const ROOM_BYTES = 4 * 1024 ** 3;
/** Short, since the path of a UNIX socket is limited to 107 bytes. */
const NAME = "svc-access-";
const DAY_MS = 86_400_000;

/**
 * Makes the temporary folder of a run of the tests. In CI it is on a disk, as the files of a service are.
 * Elsewhere it is in memory if that has room: SQLite waits for the disk at each commit, and copies of a
 * PostgreSQL cluster are large, so the tests then take a tenth less processor time.
 */
export function makeTemporaryFolder(): string {
  const parent = IS_THOROUGH || !isUsable(MEMORY) ? tmpdir() : MEMORY;
  if (parent === MEMORY) removeLeftOvers(MEMORY);
  const folder = mkdtempSync(join(parent, NAME));
  // PostgreSQL runs as another user if the tests run as root, and has its folder in here.
  chmodSync(folder, 0o711);
  return folder;
}

/** Whether a folder is in memory, has room, and may have programs: containers often have a small one. */
function isUsable(folder: string): boolean {
  try {
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const [, , type, options = ""] =
      mounts.map((line) => line.split(" ")).findLast(([, point]) => point === folder) ?? [];
    if (type !== "tmpfs" || /\b(ro|noexec)\b/.test(options)) return false;
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Removes the folders of runs that were killed: a file in memory stays until the machine restarts. */
function removeLeftOvers(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(NAME)) continue;
    const folder = join(parent, name);
    try {
      if (Date.now() - statSync(folder).mtimeMs > DAY_MS) rmSync(folder, { recursive: true });
    } catch {
      // It is of another user, or its run has ended now.
    }
  }
}
