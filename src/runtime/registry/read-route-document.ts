import { readFileSync } from "node:fs";
import { StartUpError } from "../server/start-up-error.ts";
import { parseRouteDocument, type RouteDocument } from "./route-entry.ts";

/**
 * Reads a generated document of routes (`routes/<service>.json`).
 *
 * @throws StartUpError where the file cannot be read or is none
 */
export function readRouteDocument(file: string): RouteDocument {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartUpError(
      [
        `the routes ${file} cannot be read (${code}): run buf generate, and name the routes/<service>.json that it writes`,
      ],
      { cause: error },
    );
  }
  try {
    return parseRouteDocument(text);
  } catch (error) {
    throw new StartUpError(
      [
        `the routes ${file} cannot be used: ${(error as Error).message}: run buf generate with the same version of svc-access`,
      ],
      { cause: error },
    );
  }
}
