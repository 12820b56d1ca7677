/** Another program that has an SQLite file locked until its input ends: `node child-sqlite-locker.ts FILE`. */
import { writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const [, , file = ""] = process.argv;
const database = new DatabaseSync(file, { timeout: 10_000 });
database.exec("begin exclusive");
writeSync(1, "locked\n");
process.stdin.on("end", () => {
  database.exec("rollback");
  database.close();
});
process.stdin.resume();
