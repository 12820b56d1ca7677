export type { ConnectionOptions } from "./client/channel.ts";
export { decodeSpicedbId, encodeSpicedbId } from "./client/spicedb-id.ts";
export {
  createSpicedbEngine,
  type SpicedbEngine,
  type SpicedbEngineOptions,
} from "./spicedb-engine.ts";
export type { SchemaWrite } from "./write/schema.ts";
