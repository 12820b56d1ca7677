import { readFileSync } from "node:fs";
import { parseRouteDocument, type RouteDocument, RouteEntryError } from "./route-entry.ts";

/**
 * Reads a generated document of routes (`routes/<service>.json`).
 *
 * @throws RouteEntryError where the file cannot be read or is none
 */
export function readRouteDocument(file: string): RouteDocument {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RouteEntryError(`${file} cannot be read (${code})`, { cause: error });
  }
  try {
    return parseRouteDocument(text);
  } catch (error) {
    throw new RouteEntryError(`${file}: ${(error as Error).message}`, { cause: error });
  }
}
