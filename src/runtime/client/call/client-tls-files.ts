import { readRegularFile } from "../../../common/regular-file.ts";
import { type ClientTls, checkClientTls } from "./client-tls.ts";

/** The files of a client's TLS, as configurations name them. */
export interface ClientTlsFiles {
  readonly ca_file?: string | undefined;
  readonly certificate_file?: string | undefined;
  readonly key_file?: string | undefined;
}

/** @throws TypeError if they cannot be read or used, with all that is wrong */
export function readClientTls({
  ca_file: ca,
  certificate_file: certificate,
  key_file: key,
}: ClientTlsFiles): ClientTls {
  const tls: ClientTls = {
    ...(ca === undefined ? {} : { ca: read("ca_file", ca) }),
    ...(certificate === undefined ? {} : { certificate: read("certificate_file", certificate) }),
    ...(key === undefined ? {} : { key: read("key_file", key) }),
  };
  checkClientTls(tls);
  return tls;
}

function read(key: string, file: string): Uint8Array {
  try {
    return readRegularFile(file);
  } catch (error) {
    throw new TypeError(`${key} (${file}) cannot be read`, { cause: error });
  }
}
