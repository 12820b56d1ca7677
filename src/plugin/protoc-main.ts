import * as nodeModule from "node:module";
import { printable } from "../common/printable.ts";
import { readStandardInput } from "../common/standard-streams.ts";

/** The entry of `bin/protoc-gen-svc-access`. */
export async function main(): Promise<void> {
  const [argument] = process.argv.slice(2);
  if (argument === "--version") {
    const { version } = await import("../common/version.ts");
    process.stdout.write(`protoc-gen-svc-access ${version}\n`);
    return;
  }
  if (argument !== undefined || process.stdin.isTTY) {
    process.stderr.write(
      "protoc-gen-svc-access is a buf and protoc plugin, which reads a CodeGeneratorRequest from standard input.\n" +
        "Add it to buf.gen.yaml, which `svc-access init` writes, and run buf generate. Without buf, use `svc-access generate`.\n",
    );
    process.exitCode = argument === "--help" || argument === "-h" ? 0 : 2;
    return;
  }
  // Node.js caches compiled code between starts, if it can.
  nodeModule.enableCompileCache?.();
  const { runProtocPlugin } = await import("./protoc-plugin.ts");
  const { response, notes } = await runProtocPlugin(readStandardInput(), process.cwd());
  for (const note of notes) process.stderr.write(`svc-access: ${printable(note)}\n`);
  process.stdout.write(response);
}
