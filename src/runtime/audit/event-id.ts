import { randomUUID } from "node:crypto";

/** A new id, a UUID of version 7: later ones sort behind, so that a table grows at its end. */
export function eventId(time: number): string {
  const digits = time.toString(16).padStart(12, "0").slice(-12);
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${randomUUID().slice(15)}`;
}

/** The time of which an id was made. */
export function timeOfEventId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
