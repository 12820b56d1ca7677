export { createEmbeddedEngine, type EmbeddedEngineOptions } from "./create-embedded-engine.ts";
export { createMemoryStore } from "./memory-store.ts";
