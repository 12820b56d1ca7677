export { createEmbeddedEngine, type EmbeddedEngineOptions } from "./embedded-engine.ts";
export { createMemoryStore } from "./memory-store.ts";
