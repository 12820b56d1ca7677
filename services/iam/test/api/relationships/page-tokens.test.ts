/** With which key page tokens are sealed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openPageTokens } from "../../../src/api/relationships/open-page-tokens.ts";
import type { LoadedIamConfig } from "../../../src/config/load-iam-config.ts";
import { EncryptionKeyError } from "../../../src/ground/secrets/encryption-keys.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-iam-"));
afterAll(() => rmSync(folder, { recursive: true }));

const PLACE = { table: "page_token", column: "List", row: "x" };
/** A replica with a configuration that has been checked. */
const replica = (iam: object, environment = "production", authn: object = {}) =>
  openPageTokens({
    config: { environment, security: { authn } },
    sections: { iam: { login: {}, ...iam } },
  } as unknown as LoadedIamConfig);

test("with the encryption keys, where there are some", () => {
  const file = join(folder, "keys");
  writeFileSync(file, Buffer.from(Array.from({ length: 32 }, (_, at) => at)).toString("base64"));
  const one = { encryption_key_file: file };
  const sealed = replica(one).seal("position", PLACE);
  expect(replica(one).open(sealed, PLACE)).toBe("position");
  const other = replica({ ...one, login: { client_secret: "another" } });
  expect(other.open(sealed, PLACE)).toBe("position");
});

test("with the secret of another identity provider, where no encryption key is needed", () => {
  const login = { client_secret: "the secret" };
  const sealed = replica({ login }).seal("position", PLACE);
  expect(replica({ login }).open(sealed, PLACE)).toBe("position");
  const ofCasdoor = replica({}, "production", { casdoor: { client_secret: "the secret" } });
  expect(ofCasdoor.open(sealed, PLACE)).toBe("position");
  expect(() => replica({ login: { client_secret: "x" } }).open(sealed, PLACE)).toThrow();
  expect(() => replica({}, "development").open(sealed, PLACE)).toThrow();
});

test("and else the service does not start", () => {
  expect(() => replica({})).toThrow(EncryptionKeyError);
});
