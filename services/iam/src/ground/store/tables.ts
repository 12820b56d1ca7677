import type { ServiceTables } from "svc-access/database";
import {
  BOOTSTRAP_RIGHTS,
  type BootstrapTables,
  createBootstrapTables,
} from "./bootstrap-tables.ts";
import {
  BROWSER_SESSION_RIGHTS,
  type BrowserSessionTables,
  createBrowserSessionTables,
} from "./browser-session-tables.ts";
import {
  createEncryptionKeyIds,
  ENCRYPTION_KEY_RIGHTS,
  type EncryptionKeyTables,
} from "./encryption-key-tables.ts";
import {
  addFactorFailures,
  createFactorTables,
  FACTOR_RIGHTS,
  type FactorTables,
} from "./factor-tables.ts";
import { createGroupTables, GROUP_RIGHTS, type GroupTables } from "./group-tables.ts";
import {
  createLoginCallbackTables,
  LOGIN_CALLBACK_RIGHTS,
  type LoginCallbackTables,
} from "./login-callback-tables.ts";
import {
  createOrganizationCreations,
  createOrganizationTables,
  ORGANIZATION_RIGHTS,
  type OrganizationTables,
} from "./organization-tables.ts";
import {
  createOwnerClaims,
  OWNER_CLAIM_RIGHTS,
  type OwnerClaimTables,
} from "./owner-claim-tables.ts";
import {
  addResetLinkMaker,
  createPasswordTables,
  PASSWORD_RIGHTS,
  type PasswordTables,
} from "./password-tables.ts";
import { createProviderTables, PROVIDER_RIGHTS, type ProviderTables } from "./provider-tables.ts";
import { createRemovalTables, REMOVAL_RIGHTS, type RemovalTables } from "./removal-tables.ts";
import {
  createServiceAccountTables,
  SERVICE_ACCOUNT_RIGHTS,
  type ServiceAccountTables,
} from "./service-account-tables.ts";
import { addSessionEnd } from "./session-tables.ts";
import { createUserOrganization, USER_ORGANIZATION_RIGHTS } from "./user-organization-tables.ts";
import { addUserSearchKeys } from "./user-search-keys.ts";
import { createUserTables, USER_RIGHTS, type UserTables } from "./user-tables.ts";

/** The tables of the service. */
export interface IamTables
  extends ProviderTables,
    UserTables,
    BrowserSessionTables,
    BootstrapTables,
    LoginCallbackTables,
    PasswordTables,
    RemovalTables,
    OrganizationTables,
    GroupTables,
    OwnerClaimTables,
    ServiceAccountTables,
    FactorTables,
    EncryptionKeyTables {}

/** How they are made: the migrations that have run are never changed, and new ones are appended. */
export const IAM_TABLES: ServiceTables = {
  component: "iam",
  migrateCommand: "svc-iam migrate",
  migrations: [
    { name: "create_provider_tables", up: createProviderTables },
    { name: "create_user_tables", up: createUserTables },
    { name: "add_session_end", up: addSessionEnd },
    { name: "create_browser_sessions", up: createBrowserSessionTables },
    { name: "create_bootstrap_tables", up: createBootstrapTables },
    { name: "create_login_callbacks", up: createLoginCallbackTables },
    { name: "create_password_tables", up: createPasswordTables },
    { name: "add_reset_link_maker", up: addResetLinkMaker },
    { name: "create_removals", up: createRemovalTables },
    { name: "create_organizations", up: createOrganizationTables },
    { name: "create_groups", up: createGroupTables },
    { name: "create_owner_claims", up: createOwnerClaims },
    { name: "add_user_search_keys", up: addUserSearchKeys },
    { name: "create_service_accounts", up: createServiceAccountTables },
    { name: "create_organization_creations", up: createOrganizationCreations },
    { name: "create_second_factors", up: createFactorTables },
    { name: "create_encryption_key_ids", up: createEncryptionKeyIds },
    { name: "create_user_organization", up: createUserOrganization },
    { name: "add_factor_failures", up: addFactorFailures },
  ],
  rights: {
    ...PROVIDER_RIGHTS,
    ...BROWSER_SESSION_RIGHTS,
    ...BOOTSTRAP_RIGHTS,
    ...LOGIN_CALLBACK_RIGHTS,
    ...PASSWORD_RIGHTS,
    ...REMOVAL_RIGHTS,
    ...ORGANIZATION_RIGHTS,
    ...GROUP_RIGHTS,
    ...USER_RIGHTS,
    ...OWNER_CLAIM_RIGHTS,
    ...SERVICE_ACCOUNT_RIGHTS,
    ...FACTOR_RIGHTS,
    ...ENCRYPTION_KEY_RIGHTS,
    ...USER_ORGANIZATION_RIGHTS,
  },
};
