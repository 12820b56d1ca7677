import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { open } from "node:fs/promises";

/** Reading must not wait for the writer of a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
const NO_FILE: SecretReading = { problem: "is not a file; name the file that holds the secret" };

/** Reads the secret in a file, also through links. */
export function readSecretFile(path: string, rules: SecretRules): SecretReading {
  try {
    const file = openSync(path, FLAGS);
    try {
      if (!fstatSync(file).isFile()) return NO_FILE;
      const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
      let length = 0;
      for (let count = -1; count !== 0 && length < bytes.length; length += count) {
        count = readSync(file, bytes, length, bytes.length - length, length);
      }
      return readSecretText(bytes.subarray(0, length), rules);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return { problem: unreadable(error) };
  }
}

/** The same without holding up calls under way. */
export async function readSecretFileLater(
  path: string,
  rules: SecretRules,
): Promise<SecretReading> {
  try {
    const file = await open(path, FLAGS);
    try {
      if (!(await file.stat()).isFile()) return NO_FILE;
      const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
      let length = 0;
      for (let count = -1; count !== 0 && length < bytes.length; length += count) {
        count = (await file.read(bytes, length, bytes.length - length, length)).bytesRead;
      }
      return readSecretText(bytes.subarray(0, length), rules);
    } finally {
      await file.close();
    }
  } catch (error) {
    return { problem: unreadable(error) };
  }
}

function unreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return "does not exist; create it, or name another file";
    case "EACCES":
    case "EPERM":
      return `cannot be read; let user ${process.getuid?.()} read it`;
    case "EISDIR":
      return "is a folder; name the file in it";
    default:
      return `cannot be read (${code ?? message})`;
  }
}

/** The requirements for a secret. */
export interface SecretRules {
  /** The fewest characters. */
  readonly minLength: number;
  /**
   * Whether it is sent in a header: printable ASCII without spaces. Otherwise any text without
   * control characters.
   */
  readonly inHeader: boolean;
}

/** The most characters of a secret. */
const MAX_SECRET = 4096;
/**
 * The most bytes that are read of a file: for a longer one it is enough to know that it is too
 * long.
 */
const MAX_SECRET_BYTES = 4 * MAX_SECRET + 3;

/** A secret, or the problem of the content; the problem never contains any of it. */
export type SecretReading =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly text?: undefined; readonly problem: string };

/** The secret that a file of these bytes holds. One line end after it does not count. */
export function readSecretText(
  bytes: Uint8Array,
  { minLength, inHeader }: SecretRules,
): SecretReading {
  if (bytes.length > MAX_SECRET_BYTES) return tooLong();
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { problem: "is not UTF-8 text; write only the secret into it" };
  }
  text = text.replace(/\r?\n$/, "");
  if (text === "") return { problem: "is empty; write the secret into it" };
  if (text.length > MAX_SECRET) return tooLong();
  if (inHeader && !/^[\x21-\x7e]+$/.test(text)) {
    return {
      problem:
        "has characters that a header cannot carry; write one secret of printable ASCII without spaces, with at most one line end after it",
    };
  }
  if (/[\p{Cc}\p{Zl}\p{Zp}\ufeff]/u.test(text)) {
    return {
      problem:
        "has control characters or several lines; write one secret, with at most one line end after it",
    };
  }
  if (text.length < minLength) {
    return { problem: `has ${text.length} characters; a secret needs at least ${minLength}` };
  }
  return { text };
}

function tooLong(): SecretReading {
  return { problem: `is too long; a secret has at most ${MAX_SECRET} characters` };
}

/** A file of a secret that cannot be used when a program starts; the message says how to fix that. */
export class UnusableSecretError extends Error {
  override readonly name = "UnusableSecretError";
}
