import type { PartContext, ServicePart } from "../api/service-part.ts";
import { OWN_ACCOUNT_PATH } from "../config/provider-paths.ts";
import { OutsideValues } from "../ground/secrets/outside-values.ts";
import { readEncryptionKeys } from "../ground/secrets/read-encryption-keys.ts";
import { SecretBox } from "../ground/secrets/secret-box.ts";
import type { BootstrapTables } from "../ground/store/bootstrap-tables.ts";
import { FormTokens } from "../pages/form-tokens.ts";
import { PageCookie } from "../pages/page-cookie.ts";
import {
  BOOTSTRAP_PATH,
  type BootstrapFlow,
  type BootstrapParts,
  bootstrapHandler,
} from "./bootstrap-handler.ts";
import { BootstrapLinks } from "./bootstrap-links.ts";
import { FirstLogin } from "./first-login.ts";
import { BOOTSTRAP_CALLBACK_PATH, FirstLoginFlow } from "./first-login-flow.ts";
import { FirstOwner } from "./first-owner.ts";
import { FirstUser } from "./first-user.ts";
import { FirstUserFlow } from "./first-user-flow.ts";
import { LinkClaims } from "./link-claims.ts";
import { UsedLinks } from "./used-links.ts";
import { ZoneOwners } from "./zone-owners.ts";

/** How long the start waits for the authorization engine to say whether there is an owner. */
const START_WAIT_MS = 2000;
const NS_PER_SECOND = 1_000_000_000;

/**
 * Opens what makes the first owner, and warns if there is none.
 *
 * @throws EncryptionKeyError if the encryption keys cannot be read
 */
export async function openBootstrap(context: PartContext): Promise<ServicePart> {
  const { configuration, database, engine, logger, design, identity } = context;
  const { recorder, attempts, accounts, hasher } = identity;
  const { organization } = configuration.sections.iam;
  const { kysely } = database.as<BootstrapTables>();
  const links = new BootstrapLinks(kysely);
  const owners = new ZoneOwners(engine);
  const used = new UsedLinks();
  const user = new FirstUser({ database, links, owners, used, accounts, hasher, recorder });
  const claims = new LinkClaims(kysely);
  const owner = new FirstOwner({ links, claims, owners, used, recorder });
  const isEmbedded = configuration.config.security.authn.provider === "embedded";
  const loginPath = isEmbedded ? OWN_ACCOUNT_PATH : undefined;
  const parts = { links, owners, attempts, design, loginPath };
  const missing = missingOwner(owners, organization);
  const problem = await missing(AbortSignal.timeout(START_WAIT_MS));
  if (problem !== undefined) logger.warn({ zone: organization }, problem);
  return {
    rawHandlers: [
      bootstrapHandler(
        isEmbedded ? userFlow(context, parts, user) : loginFlow(context, parts, owner),
        parts,
      ),
    ],
    jobs: [
      {
        name: "bootstrap",
        every: "1m",
        // Two replicas would both record what one of them completes.
        exclusive: true,
        async run(signal) {
          try {
            await owner.resume(signal);
          } finally {
            await user.resume(signal);
          }
        },
      },
    ],
    readiness: {
      bootstrap: async (signal) => {
        const detail = await missing(signal);
        return detail === undefined ? undefined : { detail };
      },
    },
  };
}

/** Says that a zone has no owner. Whether the engine answers is for its own check to say. */
function missingOwner(owners: ZoneOwners, zone: string) {
  return async (signal: AbortSignal): Promise<string | undefined> => {
    try {
      if (await owners.hasOwner(zone, signal)) return undefined;
    } catch {
      return undefined;
    }
    return `the zone ${zone} has no owner, so nobody can administer it: run svc-iam bootstrap`;
  };
}

function userFlow(
  { configuration, identity }: PartContext,
  parts: BootstrapParts,
  user: FirstUser,
): BootstrapFlow {
  const { config, sections } = configuration;
  const { public_url: publicUrl, organization, encryption_key_file: file } = sections.iam;
  const { accounts, logins, missingKeys } = identity;
  const box = new SecretBox(readEncryptionKeys({ file, environment: config.environment }));
  const forms = new FormTokens(new OutsideValues(box, missingKeys));
  return new FirstUserFlow({ ...parts, user, accounts, logins, forms, publicUrl, organization });
}

function loginFlow(
  { configuration, identity }: PartContext,
  parts: BootstrapParts,
  owner: FirstOwner,
): BootstrapFlow {
  const { verifier, callbacks, provider } = identity;
  const { public_url: publicUrl, sessions } = configuration.sections.iam;
  const cookie = new PageCookie({
    name: "svc-iam-bootstrap",
    path: BOOTSTRAP_PATH,
    publicUrl,
    browserSeconds: sessions.absolute_ns / NS_PER_SECOND,
  });
  const redirectUri = `${publicUrl}${BOOTSTRAP_CALLBACK_PATH}`;
  const login = new FirstLogin({ provider: provider.client, verifier, callbacks, redirectUri });
  return new FirstLoginFlow({ ...parts, login, owner, cookie });
}
