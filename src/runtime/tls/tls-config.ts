import type { ServerConfig } from "../configuration/server-config.ts";

/** The part `tls` of a server's configuration. */
export type TlsConfig = NonNullable<NonNullable<ServerConfig["http"]>["tls"]>;

/** One of its keys; each names a file. */
export type TlsKey = keyof TlsConfig;

/** What the files hold. */
export interface TlsFiles {
  readonly certificate_file: Buffer;
  readonly key_file: Buffer;
  readonly client_ca_file?: Buffer;
}
