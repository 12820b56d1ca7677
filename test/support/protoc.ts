import { spawnSync } from "node:child_process";

/** How protoc is called: from PATH, or as Python's grpcio-tools has it; undefined if there is neither. */
export const PROTOC: readonly string[] | undefined = [
  [process.env["PROTOC"] ?? "protoc"],
  ["python3", "-m", "grpc_tools.protoc"],
].find(([command = "", ...args]) => spawnSync(command, [...args, "--version"]).status === 0);

/** Whether tests with protoc are skipped, with a warning; never in CI. */
export function protocIsAbsent(): boolean {
  if (PROTOC === undefined && process.env["CI"] === "true") {
    throw new Error("CI needs protoc: install protobuf-compiler, or set PROTOC");
  }
  return PROTOC === undefined;
}
