import { createHash } from "node:crypto";

/** Parts as a caller holds them: a cursor or a position. It grants nothing; its checksum is against accidents. */
export function seal(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([...parts, checksum(parts)])).toString("base64url");
}

/** The parts that `seal` was given; empty where the text was altered. */
export function unseal(text: unknown): readonly unknown[] {
  try {
    const bytes = Buffer.from(String(text), "base64url");
    if (bytes.toString("base64url") !== text) return [];
    const all: unknown = JSON.parse(bytes.toString());
    if (!Array.isArray(all)) return [];
    const parts = all.slice(0, -1);
    return all.at(-1) === checksum(parts) ? parts : [];
  } catch {
    return [];
  }
}

function checksum(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 11);
}
