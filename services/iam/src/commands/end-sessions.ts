import { openServiceDatabase } from "svc-access/database";
import { createLogger, openAuditRecorder } from "svc-access/runtime";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import { operatorPrincipal } from "../ground/operator/operator.ts";
import { ProviderDatabase } from "../ground/store/provider-database.ts";
import type { ProviderTables } from "../ground/store/provider-tables.ts";
import { IAM_TABLES, type IamTables } from "../ground/store/tables.ts";
import { endEverySession } from "../people/sessions/end-every-session.ts";
import { Revocations } from "../people/sessions/revocations.ts";

/**
 * Logs everybody out, ends the links for new passwords, and records that in the audit: after the database
 * was restored from a backup, which brings back the logins, tokens and links that had ended since.
 *
 * @returns how many sessions were ended
 * @throws DatabaseError where the database cannot be used
 */
export async function endSessions({ config, sections }: LoadedIamConfig): Promise<number> {
  const { environment, service } = config;
  const principal = operatorPrincipal(sections.iam.organization);
  // What it prints is its result; the log would be mixed with it.
  const logger = createLogger({ service, environment, level: "error" });
  const opened = await openServiceDatabase<IamTables>(config, { ...IAM_TABLES, logger });
  try {
    const recorder = await openAuditRecorder(config, { database: opened, logger, principal });
    try {
      const database = new ProviderDatabase(opened.as<ProviderTables>());
      const sessions = await endEverySession(database, new Revocations(database));
      const browsers = await opened.kysely.deleteFrom("iam_browser_sessions").executeTakeFirst();
      // One that was used or replaced since a backup would set a password again.
      await opened.kysely.deleteFrom("iam_password_reset_links").execute();
      const ended = sessions + Number(browsers.numDeletedRows);
      await recorder.record({
        event: "session.all_ended",
        riskLevel: "CRITICAL",
        details: { sessions: ended },
        mustBeStored: true,
      });
      return ended;
    } finally {
      await recorder.close();
    }
  } finally {
    await opened.close();
  }
}
