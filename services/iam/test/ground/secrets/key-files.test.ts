import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readEncryptionKeys } from "../../../src/ground/secrets/read-encryption-keys.ts";
import { readPageDesign } from "../../../src/pages/read-page-design.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "key-files-"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  writeFileSync(join(folder, "large"), "");
  truncateSync(join(folder, "large"), 2 ** 30);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["pipe", "it is a pipe, a device or a socket; name a file"],
  ["large", "it has more than 65536 bytes; name the file of the keys"],
])(
  "encryption keys in a %s are refused, without waiting for it or reading it [IDP-9]",
  (name, why) => {
    const file = join(folder, name);
    expect(() => readEncryptionKeys({ file, environment: "production" })).toThrow(
      `iam.encryption_key_file: ${file}: ${why}`,
    );
  },
);

test("so is a logo in a pipe [PAGE-1]", () => {
  const file = join(folder, "pipe");
  expect(() => readPageDesign({ name: "x", logo_file: file })).toThrow(
    `iam.pages.logo_file (${file}) is a pipe, a device or a socket: name a file`,
  );
});
