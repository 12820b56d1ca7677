import { readRegularFile, readRegularFileLater } from "../../common/regular-file.ts";
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

const KEYS = ["certificate_file", "key_file", "client_ca_file"] as const;

/** The contents that could be read, and the problems of the others. */
export interface FileReading {
  readonly files: Partial<TlsFiles>;
  readonly problems: readonly string[];
}

/**
 * Reads the files of a server's certificates.
 *
 * @param at the key of the configuration, such as `server.http.tls`
 */
export function readTlsFiles(at: string, config: TlsConfig): FileReading {
  const files: Partial<Record<TlsKey, Buffer>> = {};
  const problems: string[] = [];
  for (const [key, path] of named(config)) {
    try {
      files[key] = readRegularFile(path);
    } catch (error) {
      problems.push(unreadable(`${at}.${key}`, path, error));
    }
  }
  return { files, problems };
}

/** The same without holding up calls under way. */
export async function readTlsFilesLater(at: string, config: TlsConfig): Promise<FileReading> {
  const files: Partial<Record<TlsKey, Buffer>> = {};
  const problems: string[] = [];
  for (const [key, path] of named(config)) {
    try {
      files[key] = await readRegularFileLater(path);
    } catch (error) {
      problems.push(unreadable(`${at}.${key}`, path, error));
    }
  }
  return { files, problems };
}

/** Why a file cannot be read, and how to fix it. */
export function unreadable(key: string, path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return `${key} cannot be read: there is no ${path}; name a file that exists`;
    case "EACCES":
    case "EPERM":
      return `${key} cannot be read: this process has no right to read ${path}; grant it`;
    case "EISDIR":
      return `${key} cannot be read: ${path} is a folder; name the file in it`;
    default:
      return `${key} cannot be read: ${message}`;
  }
}

function named(config: TlsConfig): [TlsKey, string][] {
  return KEYS.flatMap((key): [TlsKey, string][] => {
    const path = config[key];
    return path === undefined ? [] : [[key, path]];
  });
}
