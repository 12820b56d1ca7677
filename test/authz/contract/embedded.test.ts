import { createEmbeddedEngine, createMemoryStore } from "../../../src/authz/embedded/index.ts";
import { describeContract } from "./contract.ts";
import { modelOf, SCHEMA } from "./schema.ts";

const open = () => createEmbeddedEngine({ model: modelOf(SCHEMA), store: createMemoryStore() });

describeContract({
  name: "embedded, on the memory store",
  differences: {
    cursorAfterWrite: "OUT_OF_RANGE",
    sortedRelationships: true,
    createIsWatchedAs: "CREATE",
    ordersConcurrentWrites: true,
  },
  open: async () => {
    const engine = await open();
    return { engine, openOther: open, close: () => engine.close() };
  },
});
