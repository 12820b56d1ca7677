import { openServiceDatabase } from "svc-access/database";
import { createLogger, openAuditRecorder } from "svc-access/runtime";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import { operatorPrincipal } from "../ground/operator/operator.ts";
import { EncryptionKeyError } from "../ground/secrets/encryption-keys.ts";
import { readEncryptionKeys } from "../ground/secrets/read-encryption-keys.ts";
import { type RewrapResult, rewrap, type SealedColumn } from "../ground/secrets/rewrap.ts";
import { SecretBox } from "../ground/secrets/secret-box.ts";
import { SEALED_FACTORS } from "../ground/store/factor-tables.ts";
import { IAM_TABLES, type IamTables } from "../ground/store/tables.ts";
import { SEALED_SESSIONS } from "../login/browser/browser-sessions.ts";
import { SEALED_DOCUMENTS } from "../provider/embedded/adapter/sealed-documents.ts";
import { SEALED_KEYS } from "../provider/embedded/keys/signing-keys.ts";

/** All columns with values that an encryption key seals. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  SEALED_KEYS,
  SEALED_DOCUMENTS,
  SEALED_SESSIONS,
  SEALED_FACTORS,
];

/**
 * Encrypts all that is sealed in the database with the first key of the key file, also while the
 * service runs, and records that in the audit.
 *
 * @throws EncryptionKeyError without a key file, or one that cannot be used; DatabaseError where the
 * database cannot be used
 */
export async function rewrapDatabase({ config, sections }: LoadedIamConfig): Promise<RewrapResult> {
  const file = sections.iam.encryption_key_file;
  if (file === undefined) {
    throw new EncryptionKeyError(
      "iam.encryption_key_file is missing: name the file of the keys, such as one that openssl rand -base64 32 has written",
    );
  }
  const { environment, service } = config;
  const principal = operatorPrincipal(sections.iam.organization);
  const box = new SecretBox(readEncryptionKeys({ file, environment }));
  // What it prints is its result; the log would be mixed with it.
  const logger = createLogger({ service, environment, level: "error" });
  const database = await openServiceDatabase<IamTables>(config, { ...IAM_TABLES, logger });
  try {
    const recorder = await openAuditRecorder(config, { database, logger, principal });
    try {
      const result = await rewrap(database, box, SEALED_COLUMNS);
      const { rewrapped, unopened } = result;
      await recorder.record({
        event: "encryption_key.rewrapped",
        riskLevel: "HIGH",
        details: { rewrapped, unopened },
        mustBeStored: true,
      });
      return result;
    } finally {
      await recorder.close();
    }
  } finally {
    await database.close();
  }
}
