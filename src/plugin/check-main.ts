import { createRequire } from "node:module";
import { CHECK_ANSWERS } from "../gen/check-answers.ts";

/**
 * The entry of `bin/buf-plugin-svc-access` in JavaScript.
 *
 * buf starts a check plugin about nine times per module. All answers but one are
 * constants, which the shell script in that file gives itself where a shell runs it.
 * Only Check loads the compiler.
 */
export async function main(): Promise<void> {
  const [procedure, ...rest] = process.argv.slice(2);
  const format = rest[rest.indexOf("--format") + 1];
  if (procedure === "--protocol") {
    process.stdout.write("1\n");
  } else if (procedure === "--spec") {
    writeConstant("spec", rest.length > 0 ? format : "json");
  } else if (procedure !== undefined && Object.hasOwn(CHECK_ANSWERS, procedure)) {
    writeConstant(procedure, format);
  } else if (procedure === "/buf.plugin.check.v1.CheckService/Check") {
    await answer();
  } else {
    process.stderr.write(
      "buf-plugin-svc-access is a check plugin of buf: name it under plugins in buf.yaml and run buf lint.\n" +
        "`svc-access lint --help` runs the same rules without it.\n",
    );
    process.exitCode = procedure === "--help" || procedure === "-h" ? 0 : 2;
  }
}

function writeConstant(name: string, format: string | undefined): void {
  const answer = CHECK_ANSWERS[name];
  if (format === "json" && answer?.json !== undefined) process.stdout.write(`${answer.json}\n`);
  else process.stdout.write(Buffer.from(answer?.binary ?? "", "base64"));
}

async function answer(): Promise<void> {
  const require = createRequire(import.meta.url);
  const { answered } = require("./check.cjs") as typeof import("./check-start.ts");
  await answered;
}
