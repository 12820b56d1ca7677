import {
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteDialect,
  type SqliteDialectConfig,
} from "kysely";
import { BusyPatience } from "./busy-patience.ts";

/** Kysely's dialect of SQLite, whose statements wait for another program's lock without keeping the process. */
export class PatientSqliteDialect extends SqliteDialect {
  readonly #patience: BusyPatience;

  readonly #assertUsable: () => void;

  /** @param assertUsable throws where a statement must not be made now */
  constructor(
    config: SqliteDialectConfig,
    patience = new BusyPatience(),
    assertUsable: () => void = () => undefined,
  ) {
    super(config);
    this.#patience = patience;
    this.#assertUsable = assertUsable;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const patience = this.#patience;
    const assertUsable = this.#assertUsable;
    const acquire = driver.acquireConnection.bind(driver);
    let known: DatabaseConnection | undefined;
    let patient: DatabaseConnection | undefined;
    driver.acquireConnection = async (options) => {
      const connection = await acquire(options);
      if (patient === undefined || known !== connection) {
        known = connection;
        patient = {
          executeQuery: (query, options) =>
            patience.run(() => {
              assertUsable();
              return connection.executeQuery(query, options);
            }, isWrite),
          streamQuery: (query, size, options) => connection.streamQuery(query, size, options),
        };
      }
      return patient;
    };
    return driver;
  }
}

/** Only statements that give no rows tell how many they changed. */
function isWrite({ numAffectedRows }: QueryResult<unknown>): boolean {
  return numAffectedRows !== undefined;
}
