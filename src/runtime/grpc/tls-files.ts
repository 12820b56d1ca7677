import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { ServerCredentials } from "@grpc/grpc-js";
import { StartUpError } from "../server/start-up-error.ts";
import type { GrpcServerConfig } from "./grpc-server-options.ts";

/**
 * Reads the certificates of the configuration. With `client_ca_file`, a client must
 * show a certificate that it signed.
 *
 * @throws StartUpError which names the files that cannot be read
 */
export async function readCredentials(
  tls: NonNullable<GrpcServerConfig["tls"]>,
): Promise<ServerCredentials> {
  const problems: string[] = [];
  const read = async (key: keyof typeof tls): Promise<Buffer | undefined> => {
    const path = tls[key];
    if (path === undefined) return undefined;
    try {
      return await readFile(path);
    } catch (error) {
      problems.push(`server.grpc.tls.${key} cannot be read: ${(error as Error).message}`);
      return undefined;
    }
  };
  const [cert, key, ca] = await Promise.all([
    read("certificate_file"),
    read("key_file"),
    read("client_ca_file"),
  ]);
  if (problems.length > 0) throw new StartUpError(problems.sort());
  try {
    createSecureContext({ ...(cert && { cert }), ...(key && { key }), ...(ca && { ca }) });
  } catch (error) {
    const reason = (error as Error).message;
    throw new StartUpError([`server.grpc.tls has no certificate and key that fit: ${reason}`], {
      cause: error,
    });
  }
  const pair = { private_key: key as Buffer, cert_chain: cert as Buffer };
  return ServerCredentials.createSsl(ca ?? null, [pair], ca !== undefined);
}
