/** Starts the hub and the Git service that it calls, with a token between them made for this run. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";

const DATA = process.env["DATA"] ?? new URL("../data", import.meta.url).pathname;
mkdirSync(DATA, { recursive: true });

const token = () => process.env["INTERNAL_TOKEN"] ?? randomBytes(24).toString("base64url");
const env = {
  ...process.env,
  DATA,
  HUB_TOKEN: token(),
  GIT_TOKEN: process.env["GIT_TOKEN"] ?? randomBytes(24).toString("base64url"),
  SYSTEM_TOKEN: process.env["SYSTEM_TOKEN"] ?? randomBytes(24).toString("base64url"),
};
const services = ["git", "hub"].map((name) => {
  const main = new URL(`${name}/main.ts`, import.meta.url).pathname;
  return spawn(process.execPath, [main], { env, stdio: "inherit" });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    for (const service of services) service.kill("SIGTERM");
  });
}
for (const service of services) {
  service.on("exit", (code) => {
    // One without the other is of no use.
    process.exitCode ||= code ?? 1;
    for (const other of services) other.kill("SIGTERM");
  });
}
