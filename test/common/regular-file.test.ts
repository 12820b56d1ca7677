import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readRegularFile, readRegularFileLater } from "../../src/common/regular-file.ts";
import { readModelFile } from "../../src/model/parse-model.ts";
import { readTlsFiles } from "../../src/runtime/tls/tls-files.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "regular-file-"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  writeFileSync(join(folder, "large"), "");
  truncateSync(join(folder, "large"), 2 ** 30);
  writeFileSync(join(folder, "text"), "text");
  writeFileSync(join(folder, "empty"), "");
  symlinkSync("text", join(folder, "link"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WRONG: readonly [string, () => string, string][] = [
  ["no file", () => join(folder, "none"), "ENOENT"],
  ["a folder", () => folder, "EISDIR"],
  ["a pipe without a writer", () => join(folder, "pipe"), "ENOTREG"],
  ["a device", () => "/dev/zero", "ENOTREG"],
  ["a file of a gigabyte", () => join(folder, "large"), "EFBIG"],
];

describe.each([
  ["at once", async (file: string, most?: number) => readRegularFile(file, most)],
  ["later", readRegularFileLater],
])("a file that is read %s", (_, read) => {
  test.each(WRONG)("%s is refused, without waiting or reading it", async (_, file, code) => {
    await expect(read(file())).rejects.toMatchObject({ code });
  });

  test.each([
    ["a file", "text", "text"],
    ["a link to it", "link", "text"],
    ["an empty one", "empty", ""],
  ])("%s is read", async (_, name, text) => {
    expect((await read(join(folder, name))).toString()).toBe(text);
  });

  test("the bound is that of the content, also where the kernel does not know the size", async () => {
    expect((await read(join(folder, "text"), 4)).toString()).toBe("text");
    await expect(read(join(folder, "text"), 3)).rejects.toMatchObject({ code: "EFBIG" });
    expect((await read("/proc/self/status")).toString()).toContain("Name:");
    await expect(read("/proc/self/status", 10)).rejects.toMatchObject({ code: "EFBIG" });
  });
});

test.each([
  ["pipe", "it is a pipe, a device or a socket; name a file"],
  ["large", "it has more than 16777216 bytes; name the right file"],
])("a configuration that names a %s gets one line with the fix [CONF-1]", (name, why) => {
  const file = join(folder, name);
  expect(readModelFile(file)).toMatchObject({
    problems: [`the model ${file} cannot be read: ${why}`],
  });
  const { problems } = readTlsFiles("server.http.tls", { certificate_file: file, key_file: file });
  expect(problems).toEqual([
    `server.http.tls.certificate_file cannot be read: ${why}`,
    `server.http.tls.key_file cannot be read: ${why}`,
  ]);
});
