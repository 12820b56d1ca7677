import { readSecretFile, type SecretReading } from "../secret/read-secret-file.ts";
import type { ServiceConfigProblem } from "./configuration-error.ts";
import type { ServiceConfig } from "./service-config.ts";

/** A configuration with its secrets, and the problems of those that cannot be read. */
export interface WithSecrets {
  readonly config: ServiceConfig;
  readonly problems: readonly ServiceConfigProblem[];
}

/**
 * Reads the secrets that are used once, when a connection is made, out of their files. Internal
 * tokens are not among them: the code that accepts them follows their files.
 */
export function withSecretFiles(config: ServiceConfig): WithSecrets {
  const { database, registry, security } = config;
  const { spicedb } = security.authz;
  const problems: ServiceConfigProblem[] = [];
  const read = (path: readonly string[], file: string | undefined, inHeader: boolean) => {
    if (file === undefined) return undefined;
    const { text, problem }: SecretReading = readSecretFile(file, { minLength: 1, inHeader });
    if (problem !== undefined) {
      problems.push({ path, message: `${path.join(".")} (${file}) ${problem}` });
    }
    return text;
  };
  const token = read(["security", "authz", "spicedb", "token_file"], spicedb?.token_file, true);
  const password = read(["database", "password_file"], database?.password_file, false);
  const etcd = read(["registry", "etcd", "password_file"], registry?.etcd.password_file, false);
  return {
    config: {
      ...config,
      ...(spicedb &&
        token !== undefined && {
          security: { ...security, authz: { ...security.authz, spicedb: { ...spicedb, token } } },
        }),
      ...(database &&
        password !== undefined && {
          database: { ...database, url: withPassword(database.url as string, password) },
        }),
      ...(registry &&
        etcd !== undefined && {
          registry: { etcd: { ...registry.etcd, password: etcd } },
        }),
    },
    problems,
  };
}

function withPassword(url: string, password: string): string {
  const parsed = new URL(url);
  // A URL without a host, as of a socket, takes none before it.
  if (parsed.host === "") parsed.searchParams.set("password", password);
  // `URL` leaves some characters as they are that the driver would decode.
  parsed.password = encodeURIComponent(password);
  return parsed.href;
}
