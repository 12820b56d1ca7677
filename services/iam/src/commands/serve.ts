import { runServer, type ServerOptions, StartUpError } from "svc-access/runtime";
import { EncryptionKeyError } from "../ground/secrets/encryption-keys.ts";
import { UnsealError } from "../ground/secrets/secret-box.ts";

/** Opens what the service of a configuration needs. */
export type Open = (file: string) => Promise<ServerOptions>;

/** Serves until a signal stops the process, and sets its exit code. */
export async function serve(file: string, open: Open): Promise<void> {
  await runServer(() => opened(file, open), "svc-iam");
}

async function opened(file: string, open: Open): Promise<ServerOptions> {
  try {
    return await open(file);
  } catch (error) {
    // The operator must fix the key file, so the exit code is that of a wrong configuration.
    const isOfKeys = error instanceof EncryptionKeyError || error instanceof UnsealError;
    throw isOfKeys ? new StartUpError([error.message], { cause: error }) : error;
  }
}
