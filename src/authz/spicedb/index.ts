export type { ConnectionOptions } from "./channel.ts";
export type { SchemaWrite } from "./schema.ts";
export {
  createSpicedbEngine,
  type SpicedbEngine,
  type SpicedbEngineOptions,
} from "./spicedb-engine.ts";
export { decodeSpicedbId, encodeSpicedbId } from "./spicedb-id.ts";
