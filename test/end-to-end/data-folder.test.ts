/** The data folder of `npm start`, where `DATA` names what cannot be one. */
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DataFolder } from "../../scripts/start/state.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-data-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "file");
writeFileSync(file, "");
const link = join(folder, "link");
symlinkSync(join(folder, "nothing"), link);

test.each([
  ["a file", file, /file is not a folder: name the data folder with DATA$/],
  ["a folder below a file", join(file, "a/b"), /file is not a folder/],
  ["a link to nothing", link, /link is a link to nothing: remove the link, or name another/],
  [
    "a folder that no process can make",
    "/proc/none/data",
    /^the folder \/proc\/none cannot be made/,
  ],
])("%s is refused, and exits with 2", (_, path, message) => {
  expect(() => new DataFolder(path).open()).toThrow(
    expect.objectContaining({ exitCode: 2, message: expect.stringMatching(message) }),
  );
});

test("a folder is made with those above it", () => {
  const path = join(folder, "a/b");
  const { password } = new DataFolder(path).open();
  expect(existsSync(join(path, "platform.json"))).toBe(true);
  expect(new DataFolder(path).open().password).toBe(password);
});
