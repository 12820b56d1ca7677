/**
 * The SpiceDB client. Import this file only if SpiceDB is configured: the import fails with a
 * `MissingDriverError` if `@authzed/authzed-node` is not installed.
 */
import { onMissingDriver } from "./missing-driver.ts";

type Client = typeof import("@authzed/authzed-node");

const client: Client = await import("@authzed/authzed-node").catch(
  onMissingDriver("@authzed/authzed-node"),
);
/** The API `v1`; its types are those of the package. */
export const authzed: Client["v1"] = client.v1;
