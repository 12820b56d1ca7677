/** A result or a message that cannot be written. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { MAIN } from "../support/run-program.ts";

// Where each write fails as on a full disk.
test.skipIf(!existsSync("/dev/full"))(
  "a result that cannot be written leads to exit code 2 [CMD-3]",
  () => {
    const command = `"$0" "$1" completion bash > /dev/full`;
    const { status, stderr } = spawnSync("sh", ["-c", command, process.execPath, MAIN], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^svc-iam: the result cannot be written: ENOSPC.*: make room on the disk\n$/,
      ),
    ]);
  },
);

test.skipIf(!existsSync("/dev/full"))(
  "a message that cannot be written does not change the exit code [CMD-3]",
  () => {
    const command = `"$0" "$1" config check none.yaml 2> /dev/full`;
    const { status } = spawnSync("sh", ["-c", command, process.execPath, MAIN]);
    expect(status).toBe(2);
  },
);
