import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FollowedSecret } from "../../../src/runtime/secret/followed-secret.ts";

const OLD = "token-old-0123456789";
const NEW = "token-new-0123456789-and-more";

let folder: string;
let path: string;
let errors: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-followed-"));
  path = join(folder, "token");
  errors = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Follows the file; `settle` runs between the two readings of a new content. */
function follow(settle: () => void = () => undefined) {
  const changes: string[] = [];
  const secret = new FollowedSecret({
    path,
    name: `the token file ${path}`,
    rules: { minLength: 16, inHeader: true },
    onChange: (text) => void changes.push(text),
    settle: async () => settle(),
    logger: {
      debug() {},
      info() {},
      warn() {},
      error: (_fields: object, message: string) => void errors.push(message),
    },
  });
  return { secret, changes };
}

describe("a file that is written in parts", () => {
  test("is never accepted in part", async () => {
    writeFileSync(path, OLD);
    const rests = [NEW.slice(0, 20), NEW];
    const { secret, changes } = follow(() => writeFileSync(path, rests.shift() ?? NEW));
    writeFileSync(path, NEW.slice(0, 17));
    await secret.look();
    await secret.look();
    expect(secret.text).toBe(OLD);
    expect(errors).toEqual([expect.stringContaining("changed while it was read")]);
    await secret.look();
    expect(changes).toEqual([NEW]);
  });

  test("and then emptied, removed or restored keeps the former secret", async () => {
    writeFileSync(path, OLD);
    const ends = [
      () => writeFileSync(path, ""),
      () => rmSync(path),
      () => writeFileSync(path, OLD),
    ];
    const { secret, changes } = follow(() => ends.shift()?.());
    for (const _ of [1, 2, 3]) {
      writeFileSync(path, NEW);
      await secret.look();
      expect(secret.text).toBe(OLD);
    }
    expect(ends).toEqual([]);
    expect(changes).toEqual([]);
  });

  test("is not read twice while it is unchanged", async () => {
    writeFileSync(path, OLD);
    const { secret } = follow(() => expect.unreachable());
    await secret.look();
    expect(secret.text).toBe(OLD);
  });
});

/** Paths that are not files with a secret; none of them may block. */
const STRANGE: [string, () => unknown, RegExp][] = [
  ["a pipe that nobody writes into", () => execFileSync("mkfifo", [path]), /is not a file/],
  ["a folder", () => mkdirSync(path), /is not a file/],
  ["a link to itself", () => symlinkSync(path, path), /cannot be read \(ELOOP\)/],
  ["a link to nothing", () => symlinkSync(join(folder, "nothing"), path), /does not exist/],
  ["a link to a device without an end", () => symlinkSync("/dev/zero", path), /is not a file/],
  ["a link to a terminal", () => symlinkSync("/dev/tty", path), /is not a file|cannot be read/],
  ["zero bytes", () => writeFileSync(path, Buffer.alloc(64)), /has characters/],
  ["a zero byte after it", () => writeFileSync(path, `${NEW}\0`), /has characters/],
  ["bytes that are not text", () => writeFileSync(path, Buffer.alloc(64, 0xff)), /not UTF-8/],
  [
    "a socket",
    () =>
      new Promise<void>((done) => {
        const server = createServer().listen(path, () => done());
        server.unref();
      }),
    /cannot be read/,
  ],
];

test.each(STRANGE)(
  "%s keeps the former secret, and is refused at the start",
  async (_, make, why) => {
    writeFileSync(path, OLD);
    const { secret } = follow();
    rmSync(path);
    await make();
    await secret.look();
    expect(secret.text).toBe(OLD);
    expect(errors).toEqual([expect.stringMatching(why)]);
    expect(() => follow()).toThrow(why);
  },
);

test("an impossible path is refused", () => {
  path = join(folder, "a\0b");
  expect(() => follow()).toThrow("cannot be read");
});
