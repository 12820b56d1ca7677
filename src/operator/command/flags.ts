import { existsSync, statSync } from "node:fs";
import { InvalidArgumentError, Option } from "commander";
import type { ListenAddresses } from "../../runtime/configuration/listen-addresses.ts";
import type { ServiceConfig } from "../../runtime/configuration/service-config.ts";

/** An error that the user must fix: a flag, a file, a locked store. The message says how. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}

/** The flags that select a database. */
export interface StoreFlags {
  readonly store?: string;
  readonly config?: string;
  readonly schema?: string;
}

/** An SQLite file, or a PostgreSQL URL. */
export type StorePlace =
  | { readonly driver: "sqlite"; readonly file: string }
  | { readonly driver: "postgres"; readonly url: string };

/** The flags `--store`, `--config` and `--schema`. */
export function storeFlags(file: string): Option[] {
  return [
    new Option("--store <file or URL>", `${file}, or postgres://user@host:port/database`).env(
      "SVC_ACCESS_STORE",
    ),
    new Option(
      "--config <file>",
      "the configuration of the service, which names its database",
    ).conflicts("store"),
    new Option("--schema <name>", "the schema in PostgreSQL (default: svc_access)"),
  ];
}

/**
 * The database that the flags select.
 *
 * @param fileOf - finds the requested file from the database file of a configuration
 */
export async function placeOf(
  { store, config }: StoreFlags,
  fileOf: (file: string) => string,
): Promise<StorePlace> {
  if (config !== undefined) return existing(await configured(config, fileOf));
  if (store === undefined || store === "") {
    throw new OperatorError("name the database with --store <file or URL> or --config <file>");
  }
  if (/^(postgres(ql)?:\/\/|socket:)/.test(store)) return { driver: "postgres", url: store };
  // Not quoted: a URL or the settings of a client may contain a password.
  if (store.includes("://") || (/[@:=]/.test(store) && !existsSync(store))) {
    throw new OperatorError(
      "--store does not name an existing file: name one, or a URL that begins with postgres://",
    );
  }
  return existing({ driver: "sqlite", file: store });
}

async function configured(file: string, fileOf: (file: string) => string): Promise<StorePlace> {
  const { database } = await readConfig(file);
  if (database === undefined)
    throw new OperatorError(`${file} has no database; name it with --store`);
  const { driver } = database;
  switch (driver) {
    case "sqlite":
      return { driver, file: fileOf(database.file as string) };
    case "postgres":
      return { driver, url: database.url as string };
  }
}

/** Rejects a file that does not exist, which opening it would create. */
function existing(place: StorePlace): StorePlace {
  if (!("file" in place)) return place;
  const { file } = place;
  if (!existsSync(file)) throw new OperatorError(`${file} does not exist; name the database`);
  if (!statSync(file).isFile()) throw new OperatorError(`${file} is not a file; name the database`);
  if (statSync(file).size === 0) throw new OperatorError(`${file} is empty; name the database`);
  return place;
}

/** Parses a flag that is a whole number of at least 1. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError("write a whole number of at least 1");
  return Number(text);
}

/** These commands do not listen, and only the program of the service knows its default addresses. */
const ANY_ADDRESSES: Required<ListenAddresses> = {
  http: "127.0.0.1:0",
  grpc: "127.0.0.1:0",
  metrics: "127.0.0.1:0",
};

/**
 * Reads the configuration of a service, which is another program: sections that only it knows are
 * ignored. It finds a misspelt key itself when it starts.
 *
 * @throws ConfigurationError
 */
export async function readConfig(file: string): Promise<ServiceConfig> {
  const { loadServiceConfig } = await import("../../runtime/configuration/load-service-config.ts");
  return loadServiceConfig(file, { ignoreOtherSections: true, addresses: ANY_ADDRESSES }).config;
}
