import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import {
  type FileDescriptors,
  readFileDescriptors,
  watchFileDescriptors,
} from "../../../src/runtime/server/file-descriptors.ts";

/** What is logged while so many are open, of 100, each until it was read several times. */
async function loggedOf(states: readonly (number | undefined)[], repeatMs = 60_000) {
  const logged: string[] = [];
  let found: FileDescriptors | undefined;
  const note = (level: string) => (fields: object, message: string) =>
    void logged.push(`${level} ${JSON.stringify(fields)} ${message.split(":")[0]}`);
  const logger = {
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
  };
  const read = async () => found;
  const end = watchFileDescriptors({ logger, read, everyMs: 2, repeatMs });
  onTestFinished(end);
  for (const open of states) {
    found = open === undefined ? undefined : { open, limit: 100 };
    await sleep(30);
  }
  end();
  return logged;
}

const FEW = 'warn {"open":81,"limit":100} file descriptors are running out';
const NONE =
  'error {"open":100,"limit":100} no file descriptor is free, and new connections are closed';

test.each([
  ["enough of them are not mentioned", [20, 80], []],
  ["few of them are logged once, not at each reading", [81, 20, 81], [FEW]],
  ["none is logged at once, though few were logged already", [81, 100, 81, 100], [FEW, NONE]],
  ["a system that does not say is left alone", [undefined], []],
])("%s", async (_, states, expected) => {
  expect(await loggedOf(states)).toEqual(expected);
});

test("they are logged again after a time", async () => {
  const logged = await loggedOf([81, 81, 81, 81], 50);
  expect(logged.length).toBeGreaterThan(1);
  expect(new Set(logged)).toEqual(new Set([FEW]));
});

test.runIf(process.platform === "linux")("those of this process are read", async () => {
  const { open = 0, limit = 0 } = (await readFileDescriptors()) ?? {};
  expect(open).toBeGreaterThan(2);
  expect(limit).toBeGreaterThan(open);
});
