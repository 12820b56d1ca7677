import { expect, onTestFinished, test } from "vitest";
import {
  type FileDescriptors,
  readFileDescriptors,
  watchFileDescriptors,
} from "../../../src/runtime/server/file-descriptors.ts";
import { until } from "../../support/until.ts";

/** The log while these numbers of 100 descriptors are open, each for several readings. */
async function loggedOf(states: readonly (number | undefined)[], repeatMs = 60_000) {
  const logged: string[] = [];
  let found: FileDescriptors | undefined;
  let reads = 0;
  const note = (level: string) => (fields: object, message: string) =>
    void logged.push(`${level} ${JSON.stringify(fields)} ${message.split(":")[0]}`);
  const logger = {
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
  };
  const read = async () => {
    reads++;
    return found;
  };
  const end = watchFileDescriptors({ logger, read, everyMs: 2, repeatMs });
  onTestFinished(end);
  for (const open of states) {
    found = open === undefined ? undefined : { open, limit: 100 };
    const enough = reads + 3;
    await until("three more readings", () => reads >= enough);
  }
  end();
  return logged;
}

const FEW = 'warn {"open":81,"limit":100} file descriptors are running out';
const NONE =
  'error {"open":100,"limit":100} no file descriptor is free, and new connections are closed';

test.each([
  ["many free ones are not logged", [20, 80], []],
  ["few free ones are logged once, not at each reading", [81, 20, 81], [FEW]],
  [
    "no free one is logged at once, even if few were logged before",
    [81, 100, 81, 100],
    [FEW, NONE],
  ],
  ["a system without this information is ignored", [undefined], []],
])("%s", async (_, states, expected) => {
  expect(await loggedOf(states)).toEqual(expected);
});

test("few free ones are logged again after a time", async () => {
  const logged = await loggedOf([81, 81, 81, 81], 1);
  expect(logged.length).toBeGreaterThan(1);
  expect(new Set(logged)).toEqual(new Set([FEW]));
});

test.runIf(process.platform === "linux")(
  "the descriptors of this process are counted",
  async () => {
    const { open = 0, limit = 0 } = (await readFileDescriptors()) ?? {};
    expect(open).toBeGreaterThan(2);
    expect(limit).toBeGreaterThan(open);
  },
);
