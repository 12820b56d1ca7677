import { readFileSync } from "node:fs";
import type { RouteDocument } from "../../api/format/route-document.ts";
import { StartUpError } from "../error/start-up-error.ts";
import { checkRouteDocument, parseRouteDocument } from "./route-entry.ts";

/**
 * Reads a generated document of routes (`routes/<service>.json`).
 *
 * @param file - its path, absolute or relative to the working folder
 * @throws StartUpError where the file cannot be read or is none
 *
 * @example
 * ```ts
 * const routes = readRouteDocument("gen/routes/notes.json");
 * ```
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

/**
 * The document of routes that a server is given, checked like a file: who made it by hand, or read it
 * by other means, must not let in origins or paths that no file could.
 *
 * @throws StartUpError where it is none
 */
export function givenRouteDocument(document: RouteDocument): RouteDocument {
  try {
    return checkRouteDocument(document);
  } catch (error) {
    throw new StartUpError(
      [
        `the routes cannot be used: ${(error as Error).message}: pass the result of readRouteDocument for the routes/<service>.json of buf generate`,
      ],
      { cause: error },
    );
  }
}
