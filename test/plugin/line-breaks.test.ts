/** A value from the input never begins a line of output, in any program. */

import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { CodeGeneratorResponseSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { MalformedFileError, UsageError } from "../../src/diagnostics/usage-error.ts";
import { EmitError } from "../../src/emit/output-file.ts";
import { answerCheck } from "../../src/plugin/check-plugin.ts";
import { runProtocPlugin } from "../../src/plugin/protoc-plugin.ts";
import { ConfigurationError } from "../../src/runtime/configuration/configuration-error.ts";
import { StartUpError } from "../../src/runtime/error/start-up-error.ts";
import { encode, encodeFile } from "../api/descriptors.ts";
import { runSvcAccess } from "../support/svc-access.ts";
import { Workspace } from "../support/workspace.ts";

const FORGED = "0 errors: all policies hold";
const BREAKS = ["\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029"];

/** Expects that no line of a text is the forged one, or begins with it. */
function expectNoForgedLine(text: string): void {
  expect(text).toContain(FORGED);
  for (const line of text.split(/\r\n|[\n\r\u0085\u2028\u2029]/)) {
    expect(line.startsWith(FORGED)).toBe(false);
  }
}

const yaml = (line: string) => `model: ${JSON.stringify(`x${line}${FORGED}`)}\n`;

describe.each(BREAKS)("a model's path with %j in the configuration", (line) => {
  const file = encodeFile({ name: "a.proto", package: "a.v1" });

  test("in the response of the protoc plugin", async () => {
    using workspace = new Workspace({ "svc-access.yaml": yaml(line) });
    const request = encode([1, "a.proto"], [15, file]);
    const { response } = await runProtocPlugin(request, join(workspace.folder, "proto"));
    expectNoForgedLine(fromBinary(CodeGeneratorResponseSchema, response).error ?? "");
  });

  test("in the response of the check plugin", async () => {
    using workspace = new Workspace({ "svc-access.yaml": yaml(line) });
    const request = encode([1, encode([2, encode([1, encode([1, file])])])]);
    const { response } = await answerCheck(request, join(workspace.folder, "proto"));
    expectNoForgedLine(Buffer.from(response).toString());
  });
});

test("svc-access lint prints it in one line", () => {
  using workspace = new Workspace({});
  workspace.write("svc-access.yaml", yaml("\n"));
  const { status, stderr } = runSvcAccess(["lint", "."], { cwd: workspace.folder });
  expect(status).toBe(2);
  expectNoForgedLine(stderr);
});

test.each(BREAKS)("errors with several lines have each value in its own line: %j", (line) => {
  const value = `x${line}${FORGED}`;
  for (const error of [
    new UsageError(value),
    new UsageError(["several lines:", value]),
    new MalformedFileError([value, value]),
    new UsageError(new EmitError("several:", value).lines),
    new StartUpError([value, value]),
    new ConfigurationError(value, [value]),
  ]) {
    expectNoForgedLine(error.message);
  }
});

test("intended lines stay lines", () => {
  expect(new UsageError(["one:", "  two"]).message).toBe("one:\n  two");
});
