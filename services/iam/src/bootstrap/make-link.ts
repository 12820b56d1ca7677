import { openServiceDatabase } from "svc-access/database";
import { createLogger, hasRelationship, openAuditRecorder } from "svc-access/runtime";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import { operatorPrincipal } from "../ground/operator/operator.ts";
import type { BootstrapTables } from "../ground/store/bootstrap-tables.ts";
import { IAM_TABLES, type IamTables } from "../ground/store/tables.ts";
import { BOOTSTRAP_PATH } from "./bootstrap-handler.ts";
import { BootstrapLinks } from "./bootstrap-links.ts";
import { ownersOf } from "./zone-owners.ts";

/** A link for an operator. */
export interface MadeLink {
  readonly zone: string;
  readonly url: string;
  readonly expires: Date;
}

/**
 * Makes a link for the first owner of a zone, beside a service that may run.
 *
 * @returns undefined if the zone has an owner
 * @throws DatabaseError, AuthzError or StartUpError with the fix
 */
export async function makeLink(
  { config, sections }: LoadedIamConfig,
  zone: string,
): Promise<MadeLink | undefined> {
  if (await hasRelationship(config, ownersOf(zone))) return undefined;
  // The output of a command is not a log: only what went wrong is said, on standard error.
  const logger = createLogger({
    level: "error",
    destination: { write: (line: string) => void process.stderr.write(line) },
  });
  const database = await openServiceDatabase<IamTables>(config, { ...IAM_TABLES, logger });
  try {
    const recorder = await openAuditRecorder(config, {
      database,
      logger,
      principal: operatorPrincipal(sections.iam.organization),
    });
    const links = new BootstrapLinks(database.as<BootstrapTables>().kysely);
    const { token, expireTime } = await links.make(zone);
    const expires = new Date(expireTime);
    await recorder.record({
      event: "bootstrap.link_made",
      riskLevel: "CRITICAL",
      resource: `zone:${zone}`,
      details: { expires: expires.toISOString() },
      // A link that nobody knows of is not printed.
      mustBeStored: true,
    });
    await recorder.close();
    return { zone, url: `${sections.iam.public_url}${BOOTSTRAP_PATH}?token=${token}`, expires };
  } finally {
    await database.close();
  }
}
