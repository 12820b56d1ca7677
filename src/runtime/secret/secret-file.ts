import type { Logger } from "../operation/logger.ts";
import { FollowedSecret, LOOK_EVERY_MS } from "./followed-secret.ts";

/** How a secret in a file is followed. */
export interface SecretFileOptions {
  /** Told of changes, and of files that cannot be used. */
  readonly logger?: Logger;
  /** The fewest characters; 16 where absent. */
  readonly minLength?: number;
}

/** A secret that is read again when its file changes: called, it gives the one that counts now. */
export interface SecretFile extends Disposable {
  (): string;
  /** Ends the reading; the last secret stays. */
  close(): void;
}

const MIN_LENGTH = 16;

/**
 * A secret in a file, such as a mounted one, for `internalToken` of a client. The file is
 * read again every 5 seconds. One that is unreadable, empty or too short keeps the former secret.
 *
 * @throws Error where the file cannot be used now; it says how to fix that
 *
 * @example
 * const client = createGrpcClient(NotesService, {
 *   target: "notes:19010",
 *   internalToken: secretFile("/run/secrets/notes-token", { logger }),
 * });
 */
export function secretFile(path: string, options: SecretFileOptions = {}): SecretFile {
  const { logger, minLength = MIN_LENGTH } = options;
  const name = `the secret file ${path}`;
  const rules = { minLength, inHeader: true };
  const secret = new FollowedSecret({ path, name, rules, logger });
  const timer = setInterval(() => void secret.look(), LOOK_EVERY_MS);
  // It must not keep a program that has nothing else to do.
  timer.unref();
  const close = () => clearInterval(timer);
  return Object.assign(() => secret.text, { close, [Symbol.dispose]: close });
}
