import type { Logger } from "../../common/logger.ts";
import { NO_EVENTS, type RuntimeEvents } from "../events/runtime-events.ts";
import {
  readSecretFile,
  readSecretFileLater,
  type SecretReading,
  type SecretRules,
  UnusableSecretError,
} from "./read-secret-file.ts";

/** How often the files of secrets are read again, in milliseconds. */
export const LOOK_EVERY_MS = 5000;

/**
 * How long new content must stay unchanged before it is used, in milliseconds: a file that is
 * written in parts has changed again by then.
 */
const SETTLED_AFTER_MS = 100;
const UNSETTLED: SecretReading = {
  problem:
    "changed while it was read; write the secret to another file and rename that, so that a partial secret is never used",
};

/** The options of following a secret in a file. */
export interface FollowedSecretOptions {
  /** The file; its content is read, so that links which come to lead elsewhere are seen. */
  readonly path: string;
  /** The name of the file in messages, such as `the token file /run/secrets/hub`. */
  readonly name: string;
  readonly rules: SecretRules;
  readonly logger?: Logger | undefined;
  readonly events?: RuntimeEvents | undefined;
  /** Why a valid new secret cannot be used; absent, each is used. */
  readonly refuse?: ((text: string) => string | undefined) | undefined;
  /** Called with each new secret. */
  readonly onChange?: ((text: string) => void) | undefined;
  /** Waits before a new content is read again; a tenth of a second if absent. */
  readonly settle?: (() => Promise<unknown>) | undefined;
}

/**
 * A secret in a file: read at the start, and again when the file changes. Invalid content, such as
 * an empty file, is not used: the previous secret stays valid.
 */
export class FollowedSecret {
  readonly #options: FollowedSecretOptions;
  readonly #events: RuntimeEvents;
  #text: string;
  /** The problem of the last read. */
  #problem: string | undefined;
  #looking: Promise<void> | undefined;

  /** @throws UnusableSecretError with the problem of the file and how to fix it */
  constructor(options: FollowedSecretOptions) {
    this.#options = options;
    this.#events = options.events ?? NO_EVENTS;
    const { text, problem } = readSecretFile(options.path, options.rules);
    if (problem !== undefined) throw new UnusableSecretError(`${options.name} ${problem}`);
    this.#text = text;
  }

  /** The current secret. */
  get text(): string {
    return this.#text;
  }

  /** Reads the file again. Never rejects. Concurrent callers share one read. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { name, logger, refuse, onChange } = this.#options;
    const { text, problem } = this.#checked(await this.#read(), refuse);
    if (problem !== undefined) {
      this.#events.secretFile("failed");
      // Once, not each time that it is read.
      if (problem !== this.#problem)
        logger?.error({}, `${name} ${problem}; the previous one stays valid`);
      this.#problem = problem;
      return;
    }
    const recovered = this.#problem !== undefined;
    this.#problem = undefined;
    if (text === this.#text) {
      if (recovered) logger?.info({}, `${name} can be used again`);
      return;
    }
    this.#text = text;
    this.#events.secretFile("changed");
    onChange?.(text);
    logger?.info({}, `${name} has changed, and the new one is valid`);
  }

  /** Reads the file; new content twice, so that a partially written file is never used. */
  async #read(): Promise<SecretReading> {
    const { path, rules, settle = pause } = this.#options;
    const reading = await readSecretFileLater(path, rules);
    if (reading.text === undefined || reading.text === this.#text) return reading;
    await settle();
    const again = await readSecretFileLater(path, rules);
    return again.text === undefined || again.text === reading.text ? again : UNSETTLED;
  }

  #checked(reading: SecretReading, refuse: FollowedSecretOptions["refuse"]): SecretReading {
    if (reading.text === undefined || reading.text === this.#text) return reading;
    const problem = refuse?.(reading.text);
    return problem === undefined ? reading : { problem };
  }
}

/** It must not keep an otherwise finished program alive. */
const pause = () =>
  new Promise<void>((resolve) => void setTimeout(resolve, SETTLED_AFTER_MS).unref());

/** How a secret in a file is followed. */
export interface SecretFileOptions {
  /** Logs changes, and files that cannot be used. */
  readonly logger?: Logger;
  /** The fewest characters; 16 if absent. */
  readonly minLength?: number;
}

/** A secret that is read again when its file changes: calling it returns the current one. */
export interface SecretFile extends Disposable {
  /** The current secret, without the line break at the end of the file. */
  (): string;
  /** Ends the reading; the last secret stays. */
  close(): void;
}

const MIN_LENGTH = 16;

/** The servers that count the files of `secretFile`: these belong to the process, and to no server. */
const LISTENERS = new Set<RuntimeEvents>();

/** Counts changes and failures of all files of `secretFile` from now on; returns what ends that. */
export function countSecretFiles(events: RuntimeEvents): () => void {
  LISTENERS.add(events);
  return () => void LISTENERS.delete(events);
}

const OF_PROCESS: RuntimeEvents = {
  ...NO_EVENTS,
  secretFile: (outcome) => {
    for (const listener of LISTENERS) listener.secretFile(outcome);
  },
};

/**
 * A secret in a file, such as a mounted one, for `internalToken` of a client. The file is read
 * again every 5 seconds. If the file is unreadable, empty or too short, the previous secret stays
 * valid. The servers of the process count both in `svc_access_secret_files_total`.
 *
 * @param path - absolute, or relative to the working folder
 * @throws Error if the file cannot be used now; it says how to fix that
 *
 * @example
 * ```ts
 * const client = createGrpcClient(NotesService, {
 *   target: "notes:19010",
 *   internalToken: secretFile("/run/secrets/notes-token", { logger }),
 * });
 * ```
 */
export function secretFile(path: string, options: SecretFileOptions = {}): SecretFile {
  const { logger, minLength = MIN_LENGTH } = options;
  const name = `the secret file ${path}`;
  const rules = { minLength, inHeader: true };
  const secret = new FollowedSecret({ path, name, rules, logger, events: OF_PROCESS });
  const timer = setInterval(() => void secret.look(), LOOK_EVERY_MS);
  // It must not keep an otherwise finished program alive.
  timer.unref();
  const close = () => clearInterval(timer);
  return Object.assign(() => secret.text, { close, [Symbol.dispose]: close });
}
