import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { EncryptionKeyError, EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { readEncryptionKeys } from "../../../src/ground/secrets/read-encryption-keys.ts";
import { SecretBox, UnsealError } from "../../../src/ground/secrets/secret-box.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-iam-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));

const line = () => randomBytes(32).toString("base64");
const place = { table: "iam_keys", column: "material", row: "1" };

describe("encryption keys", () => {
  test.each([
    ["an empty file", "", /it has no encryption key: each line is 32 random bytes/],
    ["comments only", "# nothing\n\n", /it has no encryption key/],
    ["a short key", randomBytes(16).toString("base64"), /line 1 is not an encryption key/],
    ["a long key", randomBytes(33).toString("base64"), /line 1 is not an encryption key/],
    ["text", "correct horse battery staple", /line 1 is not an encryption key/],
    ["hexadecimal digits", randomBytes(32).toString("hex"), /line 1 is not an encryption key/],
    ["a second line that is cut", `${line()}\n${line().slice(0, 40)}`, /line 2 is not/],
    ["zeros", Buffer.alloc(32).toString("base64"), /line 1 is not random/],
  ])("are refused: %s", (_, text, message) => {
    expect(() => EncryptionKeys.parse(text)).toThrow(message);
  });

  test("that are repeated are refused, without their text in the message", () => {
    const key = line();
    expect(() => EncryptionKeys.parse(`${key}\n${key}`)).toThrow(
      new EncryptionKeyError("line 2 repeats an earlier key: remove it"),
    );
  });

  test("may have comments, empty lines and line ends of Windows", () => {
    const keys = EncryptionKeys.parse(`# of May\r\n${line()}\r\n\r\n${line()}\r\n`);
    expect(keys.first.id).toMatch(/^[\w-]{10}$/);
  });
});

describe("the key file", () => {
  test("is required outside development, and the message names the fix [IDP-7]", () => {
    for (const environment of ["production", "test", "staging"]) {
      expect(() => readEncryptionKeys({ file: undefined, environment })).toThrow(
        /^iam\.encryption_key_file is missing: write a key with `\(umask 077 && openssl rand -base64 32 > iam-encryption-key\)`/,
      );
    }
  });

  test("is not required in development, where the key stays the same", () => {
    const read = () => readEncryptionKeys({ file: undefined, environment: "development" });
    const sealed = new SecretBox(read()).seal("text", place);
    expect(new SecretBox(read()).open(sealed, place)).toBe("text");
  });

  test("does not open what development sealed without one, and the message says why", () => {
    const { first } = EncryptionKeys.ofDevelopment();
    const sealed = new SecretBox(EncryptionKeys.ofDevelopment()).seal("text", place);
    expect(sealed).toContain(first.id);
    expect(() => new SecretBox(EncryptionKeys.parse(line())).open(sealed, place)).toThrow(
      /the one that development uses without iam\.encryption_key_file: begin with a new database/,
    );
  });

  test("is named in the message if it is missing, a folder or invalid", () => {
    const read = (file: string) => () => readEncryptionKeys({ file, environment: "development" });
    const missing = join(folder, "missing");
    expect(read(missing)).toThrow(`${missing} cannot be read (ENOENT): create it`);
    expect(read(folder)).toThrow(`${folder} cannot be read (EISDIR): it is a folder`);
    const bad = join(folder, "bad");
    writeFileSync(bad, "hunter2hunter2");
    expect(read(bad)).toThrow(`iam.encryption_key_file: ${bad}: line 1 is not an encryption key`);
    expect(read(bad)).not.toThrow(/hunter2/);
  });
});

describe("a secret box", () => {
  const [old, next] = [line(), line()];
  const box = new SecretBox(EncryptionKeys.parse(next));

  test("opens what it has sealed, which contains no part of the text", () => {
    for (const text of ["", "a", "ünï\u{1f511}", "x".repeat(100_000)]) {
      const sealed = box.seal(text, place);
      expect(sealed).toMatch(/^v1\.[\w-]{10}\.[\w-]+$/);
      expect(box.open(sealed, place)).toBe(text);
    }
    expect(box.seal("same", place)).not.toBe(box.seal("same", place));
  });

  test.each([
    ["table", { ...place, table: "iam_users" }],
    ["column", { ...place, column: "kid" }],
    ["row", { ...place, row: "2" }],
    ["parts that are joined otherwise", { table: "iam_key", column: 's","material', row: "1" }],
  ])("does not open a value at another place: %s", (_, other) => {
    expect(() => box.open(box.seal("text", place), other)).toThrow(UnsealError);
  });

  test("does not open a value of which one character was changed", () => {
    const sealed = box.seal("text", place);
    for (let index = 0; index < sealed.length - 1; index++) {
      const changed = `${sealed.slice(0, index)}${sealed[index] === "A" ? "B" : "A"}${sealed.slice(index + 1)}`;
      expect(() => box.open(changed, place), changed).toThrow(UnsealError);
    }
  });

  test.each(["", "v1", "v1..", "text", "v2.a.b", "v1.a.b.c", "v1.__proto__.AAAA"])(
    "does not open %j",
    (value) => expect(() => box.open(value, place)).toThrow(UnsealError),
  );

  test("opens values of further keys, and encrypts with the first", () => {
    const before = new SecretBox(EncryptionKeys.parse(old)).seal("text", place);
    expect(() => box.open(before, place)).toThrow(
      /the key [\w-]{10}, which is not in iam\.encryption_key_file: add that key/,
    );
    const both = new SecretBox(EncryptionKeys.parse(`${next}\n${old}`));
    expect(both.open(before, place)).toBe("text");
    expect(box.open(both.seal("text", place), place)).toBe("text");
    expect(before.startsWith(both.currentPrefix)).toBe(false);
  });

  test("changes its derived key after so many values, and opens those of each", () => {
    const keys = EncryptionKeys.parse(next);
    const changing = new SecretBox(keys, 2);
    const values = Array.from({ length: 200 }, (_, index) => changing.seal(`${index}`, place));
    // The first 12 bytes of a value derive its key, and the next 12 are its nonce.
    const bytesOf = (value: string) => Buffer.from(value.split(".")[2] ?? "", "base64url");
    const derivedFrom = values.map((value) => bytesOf(value).toString("hex", 0, 12));
    expect(new Set(derivedFrom).size).toBe(100);
    expect(derivedFrom[0]).toBe(derivedFrom[1]);
    expect(new Set(values.map((value) => bytesOf(value).toString("hex", 0, 24))).size).toBe(200);
    // More than it keeps, and twice.
    const read = () => values.map((value) => box.open(value, place));
    expect(read()).toEqual(values.map((_, index) => `${index}`));
    expect(read()).toEqual(values.map((_, index) => `${index}`));
  });

  test("encrypts with a nonce of its own for each value", () => {
    const nonces = Array.from({ length: 1_000 }, () =>
      Buffer.from(box.seal("same", place).split(".")[2] ?? "", "base64url").toString("hex", 12, 24),
    );
    expect(new Set(nonces).size).toBe(1_000);
  });
});
