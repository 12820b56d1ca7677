import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { open } from "node:fs/promises";
import {
  MAX_SECRET_BYTES,
  readSecretText,
  type SecretReading,
  type SecretRules,
} from "./secret-text.ts";

/** Nobody waits for whoever writes into a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
const NO_FILE: SecretReading = { problem: "is not a file; name the file that holds the secret" };

/** Reads the secret that a file holds, whatever links lead to it. */
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
