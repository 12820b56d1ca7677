import {
  IAMProviderService,
  RotateSigningKeyResponseSchema,
} from "../../../gen/svc/iam/v1/provider_pb.ts";
import { IAMProviderServiceRoutes } from "../../../gen/svc/iam/v1/provider_server.ts";
import { CommandError } from "../run/command-error.ts";
import { printDone } from "../run/print-messages.ts";
import { EXIT } from "../run/run-command.ts";
import type { SystemFlags } from "./system-command.ts";
import { connectAsSystem } from "./system-connection.ts";

/** Lets the next signing key sign. @returns the exit code */
export async function rotateKey(
  file: string,
  { server, format, urgent = false }: SystemFlags & { readonly urgent?: boolean },
): Promise<number> {
  await using connection = connectAsSystem(file, server).connection;
  const provider = connection.client(IAMProviderService, IAMProviderServiceRoutes);
  const rotated = await provider.rotateSigningKey({ urgent }).catch(namingTheFlag);
  const done = `the key ${rotated.keyId} signs now, instead of ${rotated.retiredKeyId || "none"}`;
  await printDone(RotateSigningKeyResponseSchema, rotated, done, format);
  return EXIT.done;
}

/** The message names the field of the request. */
function namingTheFlag(error: Error & { readonly code?: unknown }): never {
  const { code, message } = error;
  if (code !== "FAILED_PRECONDITION") throw error;
  const told = message.replace("set urgent", "use --urgent");
  throw new CommandError(`${told} (${code})`, { cause: error });
}
