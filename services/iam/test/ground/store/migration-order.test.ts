import { expect, test } from "vitest";
import { IAM_TABLES } from "../../../src/ground/store/tables.ts";

test("a migration keeps its place: databases have run those before a new one", () => {
  expect(IAM_TABLES.migrations.map(({ name }) => name)).toMatchInlineSnapshot(`
    [
      "create_provider_tables",
      "create_user_tables",
      "add_session_end",
      "create_browser_sessions",
      "create_bootstrap_tables",
      "create_login_callbacks",
      "create_password_tables",
      "add_reset_link_maker",
      "create_removals",
      "create_organizations",
      "create_groups",
      "create_owner_claims",
      "add_user_search_keys",
      "create_service_accounts",
      "create_organization_creations",
      "create_second_factors",
      "create_encryption_key_ids",
      "create_user_organization",
      "add_factor_failures",
    ]
  `);
});
