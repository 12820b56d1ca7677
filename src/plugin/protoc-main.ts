import * as nodeModule from "node:module";
import { printable } from "../common/printable.ts";
import { readStandardInput } from "../common/standard-input.ts";

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
      "protoc-gen-svc-access is a plugin of buf and protoc and reads a CodeGeneratorRequest from standard input.\n" +
        "Name it in buf.gen.yaml and run buf generate; `svc-access init` writes one, `svc-access generate --help` works without buf.\n",
    );
    process.exitCode = argument === "--help" || argument === "-h" ? 0 : 2;
    return;
  }
  // Node keeps what it compiles between starts, where it can.
  nodeModule.enableCompileCache?.();
  const { runProtocPlugin } = await import("./protoc-plugin.ts");
  const { response, notes } = await runProtocPlugin(readStandardInput(), process.cwd());
  for (const note of notes) process.stderr.write(`svc-access: ${printable(note)}\n`);
  process.stdout.write(response);
}
