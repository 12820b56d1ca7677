import { readFileSync, statSync } from "node:fs";
import { EncryptionKeyError, EncryptionKeys } from "./encryption-keys.ts";

/** Where the encryption keys come from. */
export interface EncryptionKeySource {
  /** `iam.encryption_key_file`. */
  readonly file: string | undefined;
  /** `environment` of the configuration. */
  readonly environment: string;
}

/** More than the keys of many years. */
const MOST_BYTES = 64 * 1024;

/**
 * Reads the encryption keys of the configuration.
 *
 * @throws EncryptionKeyError if there is no file outside development, or it cannot be used
 */
export function readEncryptionKeys({ file, environment }: EncryptionKeySource): EncryptionKeys {
  if (file === undefined) {
    if (environment === "development") return EncryptionKeys.ofDevelopment();
    throw new EncryptionKeyError(
      "iam.encryption_key_file is missing: write a key with `(umask 077 && openssl rand -base64 32 > iam-encryption-key)`, keep a copy of it outside the database's backups, and name the file; without one, only `environment: development` starts",
    );
  }
  try {
    // Before it is read: that of a pipe would wait, and a large one take all memory.
    const stats = statSync(file);
    if (!stats.isFile() && !stats.isDirectory()) {
      throw new EncryptionKeyError("it is a pipe, a device or a socket; name a file");
    }
    if (stats.size > MOST_BYTES) {
      throw new EncryptionKeyError(
        `it has more than ${MOST_BYTES} bytes; name the file of the keys`,
      );
    }
    return EncryptionKeys.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof EncryptionKeyError) {
      throw new EncryptionKeyError(`iam.encryption_key_file: ${file}: ${error.message}`);
    }
    const { code } = error as NodeJS.ErrnoException;
    throw new EncryptionKeyError(
      `iam.encryption_key_file: ${file} cannot be read (${code ?? "unknown error"}): ${FIXES[code ?? ""] ?? "check the file"}`,
    );
  }
}

const FIXES: Readonly<Record<string, string>> = {
  ENOENT: "create it, or name another file",
  EACCES: "let the user of this process read it",
  EISDIR: "it is a folder; name the file in it",
};
