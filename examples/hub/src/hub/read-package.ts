import { createHash } from "node:crypto";
import { ServiceError } from "svc-access/runtime";

const MAX_FILE = 1024 * 1024;

/** Reads a package, a JSON object of paths and texts, into its files. */
export function readPackage(bytes: Uint8Array): [path: string, content: Uint8Array][] {
  let files: unknown;
  try {
    files = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new ServiceError("INVALID_ARGUMENT", "the package is not JSON");
  }
  if (typeof files !== "object" || files === null || Array.isArray(files)) {
    throw new ServiceError("INVALID_ARGUMENT", "the package is not JSON object of paths and texts");
  }
  return Object.entries(files).map(([path, text]: [string, unknown]) => {
    const content = typeof text === "string" ? new TextEncoder().encode(text) : undefined;
    if (content === undefined || content.length > MAX_FILE) {
      throw new ServiceError("INVALID_ARGUMENT", `the file ${path} is not text of at most 1 MiB`);
    }
    return [path, content];
  });
}

/** The SHA-256 of bytes, in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
