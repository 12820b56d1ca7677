/** Starts the hub and the Git service that it calls, with tokens made for this run. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";

const lacking = whatIsMissing();
if (lacking !== undefined) {
  process.stderr.write(`${lacking}\n`);
  process.exit(2);
}

const secret = (name: string) => process.env[name] ?? randomBytes(24).toString("base64url");
const env = {
  ...process.env,
  // The hub calls the Git service with the one, and is called by it with the other.
  HUB_TOKEN: secret("HUB_TOKEN"),
  GIT_TOKEN: secret("GIT_TOKEN"),
  SYSTEM_TOKEN: secret("SYSTEM_TOKEN"),
};
const services = ["git", "hub"].map((name) => {
  const main = new URL(`${name}/main.ts`, import.meta.url).pathname;
  return spawn(process.execPath, [main], { env, stdio: "inherit" });
});

// A second signal would end a service at once, so each gets one.
let isStopping = false;
const stop = (): void => {
  if (isStopping) return;
  isStopping = true;
  for (const service of services) service.kill("SIGTERM");
};
process.on("SIGTERM", stop);
process.on("SIGINT", () => {
  // A terminal has sent it to the services too.
  isStopping = true;
});
for (const service of services) {
  service.on("exit", (code) => {
    process.exitCode ||= code ?? 1;
    // One is useless without the other.
    stop();
  });
}

/** What the services import and is not there: Node.js would name a file, and not the command that makes it. */
function whatIsMissing(): string | undefined {
  if (!existsSync(new URL("../gen/policies.json", import.meta.url))) {
    return "gen is missing: run npm run generate";
  }
  if (!existsSync(new URL(import.meta.resolve("svc-access/runtime")))) {
    return "the build of svc-access is missing: run npm run prepare in its folder";
  }
  return undefined;
}
