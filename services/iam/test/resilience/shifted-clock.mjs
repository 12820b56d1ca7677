// Loaded before a replica: its clock is off by the milliseconds in a file, which SIGUSR2 reads again.
import { readFileSync } from "node:fs";

const Real = Date;
let offset = 0;
function read() {
  offset = Number(readFileSync(process.env.CLOCK_OFFSET_FILE, "utf8"));
}
read();
process.on("SIGUSR2", () => {
  read();
  process.stdout.write(`clock ${offset}\n`);
});

globalThis.Date = class extends Real {
  constructor(...parts) {
    if (parts.length === 0) super(Real.now() + offset);
    else super(...parts);
  }
  static now() {
    return Real.now() + offset;
  }
};
