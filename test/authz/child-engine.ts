/** A process of its own that writes through an engine: `node child-engine.ts FILE`. */
import { writeSync } from "node:fs";
import { createEmbeddedEngine } from "../../src/authz/embedded/index.ts";
import { openSqliteStore } from "../../src/authz/store/open-sqlite-store.ts";
import { parseModel } from "../../src/model/index.ts";
import { SCHEMA, viewer } from "./documents.ts";

const [, , file = ""] = process.argv;
const engine = await createEmbeddedEngine({
  model: parseModel(SCHEMA, "documents.zed").model,
  store: await openSqliteStore({ file }),
});
writeSync(1, "open\n");
const { items } = await engine.readRelationships({ resourceType: "document" }, { pageSize: 1 });
const start = items.length === 0 ? 0 : Number(process.argv[3] ?? 0);
for (let number = start; ; number++) {
  await engine.writeRelationships({
    updates: [
      { operation: "TOUCH", relationship: viewer(`d${number}`, "left") },
      { operation: "TOUCH", relationship: viewer(`d${number}`, "right") },
    ],
  });
  writeSync(1, `${number}\n`);
}
