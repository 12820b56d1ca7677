/** A client that not everyone needs, and who configures it installs: an optional peer of this package. */
export type Driver = "@authzed/authzed-node" | "etcd3" | "pg";

/** What needs the driver. */
const USES: Readonly<Record<Driver, string>> = {
  "@authzed/authzed-node": "SpiceDB",
  etcd3: "etcd",
  pg: "PostgreSQL",
};

/** A driver is needed and is not installed. */
export class MissingDriverError extends Error {
  override readonly name = "MissingDriverError";

  constructor(driver: Driver, options?: ErrorOptions) {
    const use = USES[driver];
    super(
      `${use} needs the package ${driver}, which is not installed: run npm install ${driver}`,
      options,
    );
  }
}

/** Handles the failed import of a driver: names the package where that is what is missing. */
export function onMissingDriver(driver: Driver): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    // A package that the driver itself lacks is another problem.
    const isMissing = code === "ERR_MODULE_NOT_FOUND" && message.includes(`'${driver}'`);
    throw isMissing ? new MissingDriverError(driver, { cause: error }) : error;
  };
}
