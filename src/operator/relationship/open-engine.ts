import { createEmbeddedEngine } from "../../authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import { loadServiceConfig } from "../../runtime/configuration/load-service-config.ts";
import { createAuthorizationEngine } from "../../runtime/server/open-engine.ts";
import { OperatorError, type StoreFlags } from "../command/flags.ts";
import { openStore } from "./open-store.ts";
import { readModel } from "./selection.ts";

/** What names the engine: a configuration, or a store and its model. */
export interface EngineFlags extends StoreFlags {
  readonly model?: string;
}

/** Opens the engine that the flags name; the embedded one holds its store. */
export async function openEngine(flags: EngineFlags): Promise<AuthorizationEngine> {
  const { config, model: file } = flags;
  if (config !== undefined) {
    if (file !== undefined || flags.schema !== undefined) {
      throw new OperatorError("--model and --schema go with --store: the configuration names both");
    }
    return createAuthorizationEngine(loadServiceConfig(config).config);
  }
  if (file === undefined) {
    throw new OperatorError(
      "give --config <file>, or --store <file or URL> with --model <file>: what is written must fit the model",
    );
  }
  const model = readModel(file);
  return createEmbeddedEngine({ model, modelFile: file, store: await openStore(flags) });
}
