import { type OpenedAuditLog, openAuditLog } from "../../runtime/audit/log/open-audit-log.ts";
import { placeOf, type StoreFlags } from "../command/flags.ts";

/** Opens the log in the flags, to which the service may still write. */
export async function openLog(flags: StoreFlags): Promise<OpenedAuditLog> {
  const place = await placeOf(flags, (file) => file);
  switch (place.driver) {
    case "sqlite":
      return openAuditLog({ file: place.file });
    case "postgres": {
      const schema = flags.schema === undefined ? {} : { schema: flags.schema };
      return openAuditLog({ url: place.url, ...schema });
    }
  }
}

/** A signal that aborts on SIGINT and SIGTERM. */
export function interrupted(): AbortSignal {
  const end = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end.abort());
  return end.signal;
}
