import type { AuthorizationEngine } from "svc-access/authz";
import type { ServiceDatabase } from "svc-access/database";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import { readEncryptionKeys } from "../ground/secrets/read-encryption-keys.ts";
import { SecretBox } from "../ground/secrets/secret-box.ts";
import type { FactorTables } from "../ground/store/factor-tables.ts";
import type { SessionTables } from "../ground/store/session-tables.ts";
import type { UserTables } from "../ground/store/user-tables.ts";
import type { LoginAttempts } from "../people/accounts/throttle/login-attempts.ts";
import type { LoginThrottle } from "../people/accounts/throttle/login-throttle.ts";
import { Quota } from "../people/accounts/throttle/quota.ts";
import { FactorStore } from "../people/factors/factor-store.ts";
import { Factors } from "../people/factors/factors.ts";
import { Passkeys } from "../people/factors/passkeys.ts";
import { requiredFactors } from "../people/factors/required-factors.ts";

/** What second factors are opened with. */
export interface FactorParts {
  readonly configuration: LoadedIamConfig;
  readonly database: ServiceDatabase<FactorTables & UserTables & SessionTables>;
  readonly engine: Pick<AuthorizationEngine, "checkBulk">;
  readonly throttle: LoginThrottle;
  readonly counts: LoginAttempts;
}

/** Of a million codes three count at once: a day has room for fewer than 2,000 attempts. */
const ATTEMPTS = { purpose: "second factor of an account", most: 20, spanMs: 900_000 };

/**
 * Opens the second factors of local users.
 *
 * @throws EncryptionKeyError if the encryption keys cannot be read
 */
export function openFactors({
  configuration,
  database,
  engine,
  throttle,
  counts,
}: FactorParts): Factors {
  const { config, sections } = configuration;
  const { iam } = sections;
  const { encryption_key_file: file, public_url: origin, organization } = iam;
  const box = new SecretBox(readEncryptionKeys({ file, environment: config.environment }));
  const store = new FactorStore(
    database.kysely.$pickTables<keyof FactorTables | "iam_users" | "iam_sessions">(),
    box,
  );
  return new Factors({
    store,
    passkeys: new Passkeys(store, { origin, name: iam.pages.name }),
    throttle,
    counts,
    quota: new Quota(database.kysely.$pickTables<keyof UserTables>(), ATTEMPTS),
    isRequired: requiredFactors(engine, organization, iam.second_factor.required_for),
    issuer: iam.pages.name,
  });
}
