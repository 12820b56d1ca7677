import { displayPath } from "../../compiler/platform.ts";
import { readText } from "../../compiler/read-text.ts";
import { readRelationships } from "../../model/validation/read-relationships.ts";
import type { PlacedRelationship } from "../../model/validation/validation-file.ts";

/**
 * Reads a file of relationships.
 *
 * @throws UsageError if it cannot be read; MalformedFileError if it contains anything else
 */
export async function loadRelationships(path: string): Promise<PlacedRelationship[]> {
  const text = readText(path, `the file of relationships ${path}`);
  const file = displayPath(path);
  if (!/\.ya?ml$/.test(path)) return readRelationships(text, file);
  const { readYamlRelationships } = await import("../../model/validation/read-validation-file.ts");
  return readYamlRelationships(text, file);
}
