import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EncryptionKeys } from "../../src/ground/secrets/encryption-keys.ts";
import { SecretBox } from "../../src/ground/secrets/secret-box.ts";
import { FactorStore } from "../../src/people/factors/factor-store.ts";
import { newTotpSecret, totpCode } from "../../src/people/factors/one-time-codes.ts";
import { databaseOf } from "./browser-login.ts";
import type { IamService } from "./iam-service.ts";

/** Adds an authenticator app to an account, as its person does. @returns the secret */
export async function addFactor(iam: IamService, accountId: string): Promise<string> {
  const keys = EncryptionKeys.parse(readFileSync(join(iam.folder, "encryption-key"), "utf8"));
  const store = new FactorStore(databaseOf(iam).kysely, new SecretBox(keys));
  const secret = newTotpSecret();
  const result = await store.addApp(secret, 0, {
    owner: { accountId, passwordVersion: 0 },
    firstCodes: ["x"],
  });
  if (result === "refused") throw new Error(`${accountId} is not an account`);
  return secret;
}

/**
 * The first code that an app does not show within two minutes, in place of one that it shows by chance.
 *
 * @param codes more than the eight that it shows; some guesses by default
 */
export function wrongCode(
  secret: string,
  codes: Iterable<string> = Array.from({ length: 9 }, (_, digit) => `${digit}`.repeat(6)),
): string {
  const now = Math.floor(Date.now() / 30_000);
  const shown = new Set(Array.from({ length: 8 }, (_, at) => totpCode(secret, now - 3 + at)));
  for (const code of codes) if (!shown.has(code)) return code;
  throw new Error("the app shows all of these codes");
}
