import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { ROOT } from "../../support/workspace.ts";
import { HUB } from "./hub-process.ts";

/** Writes the hub's configuration with changes to a file elsewhere. */
export function writeConfiguration(file: string, change: (config: any) => void): string {
  const config = parse(readFileSync(join(HUB, "hub.yaml"), "utf8"));
  // Paths of files are relative to the configuration.
  config.security.authz.model = join(ROOT, "model/iam.zed");
  change(config);
  writeFileSync(file, stringify(config));
  return file;
}
