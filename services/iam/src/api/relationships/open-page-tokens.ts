import type { LoadedIamConfig } from "../../config/load-iam-config.ts";
import { EncryptionKeys } from "../../ground/secrets/encryption-keys.ts";
import { readEncryptionKeys } from "../../ground/secrets/read-encryption-keys.ts";
import { SecretBox } from "../../ground/secrets/secret-box.ts";

/**
 * Opens what seals page tokens: with the encryption keys, and where another identity provider makes these
 * unnecessary, with a key from the secret that all replicas have as its client.
 *
 * @throws EncryptionKeyError if the encryption keys are needed and cannot be read
 */
export function openPageTokens({ config, sections }: LoadedIamConfig): SecretBox {
  const { encryption_key_file: file, login } = sections.iam;
  const { environment, security } = config;
  const secret = login.client_secret ?? security.authn.casdoor?.client_secret;
  const hasKeys = file !== undefined || environment === "development" || secret === undefined;
  return new SecretBox(
    hasKeys ? readEncryptionKeys({ file, environment }) : EncryptionKeys.ofSecret(secret),
  );
}
