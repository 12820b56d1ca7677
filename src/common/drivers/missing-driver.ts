/** An optional peer dependency of this package, installed only by those who configure it. */
export type Driver = "@authzed/authzed-node" | "etcd3" | "pg";

/** What needs the driver. */
const USES: Readonly<Record<Driver, string>> = {
  "@authzed/authzed-node": "SpiceDB",
  etcd3: "etcd",
  pg: "PostgreSQL",
};

/** A driver that the configuration needs is not installed. */
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

/** Handles the failed import of a driver: names the package if it is not installed. */
export function onMissingDriver(driver: Driver): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    // A missing dependency of the driver itself is another problem.
    const isMissing = code === "ERR_MODULE_NOT_FOUND" && message.includes(`'${driver}'`);
    throw isMissing ? new MissingDriverError(driver, { cause: error }) : error;
  };
}
