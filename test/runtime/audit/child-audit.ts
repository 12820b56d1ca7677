/** A process that audits writes: `node child-audit.ts FILE`. It prints each acknowledgement at once. */
import { writeSync } from "node:fs";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import { SILENT, settingsOf } from "../../database/settings.ts";
import { callOf, methodOf, principalOf } from "../authorization/calls.ts";
import { auditOf } from "./audits.ts";

const [, , file = ""] = process.argv;
const method = methodOf({ audit: { event: "doc.write", riskLevel: "HIGH" } });
const database = await openDatabase(settingsOf({ file }), { logger: SILENT });
const { audit } = await auditOf(database, [method]);
let next = 0;
const worker = async () => {
  for (;;) {
    const requestId = `r${next++}`;
    const call = callOf(method, { principal: principalOf(), requestId });
    await audit.trail.begin(call);
    writeSync(1, `begun ${requestId}\n`);
    await audit.trail.complete(call, undefined);
    writeSync(1, `completed ${requestId}\n`);
  }
};
await Promise.all(Array.from({ length: 8 }, worker));
