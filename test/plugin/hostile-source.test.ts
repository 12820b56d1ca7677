/**
 * For any source, configuration or model, the output of all programs contains
 * no control characters and begins no command of a CI system.
 */
import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { CodeGeneratorResponseSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HTTP_EXTENSION, POLICY_EXTENSION } from "../../src/api/policy.ts";
import { formatFindings } from "../../src/cli/model/check.ts";
import { formatDiff } from "../../src/cli/model/format-diff.ts";
import { formatTests } from "../../src/cli/model/test-report.ts";
import { REPORTS } from "../../src/cli/report/report.ts";
import { HALVES, INVISIBLE, UNPRINTABLE } from "../../src/common/printable.ts";
import { readAndCheck } from "../../src/compiler/read-and-check.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { compareDiagnostics, type Diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { parseModel } from "../../src/model/index.ts";
import { answerCheck } from "../../src/plugin/check-plugin.ts";
import { runProtocPlugin } from "../../src/plugin/protoc-plugin.ts";
import { DEFINITION, encode, encodeFile, HTTP_DEFINITION, methodOf } from "../api/descriptors.ts";
import { expectHarmless, hostileText } from "../common/hostile-text.ts";
import { runs } from "../support/effort.ts";

/** Characters that the name of a file may not contain. */
const UNSAFE = new RegExp(`[${UNPRINTABLE}${INVISIBLE}${HALVES}]`, "gu");

const RUNS = { numRuns: runs(150) };

/** Well-formed text, which compilers accept. */
const text = hostileText.map((one) => Buffer.from(one).toString());
const source = fc.record({ file: text, action: text, resource: text, event: text, path: text });
type Source = typeof source extends fc.Arbitrary<infer T> ? T : never;

function fileOf({ file, action, resource, event, path }: Source): Uint8Array {
  const authz = encode([1, action], [2, `skill:{${resource}}`], [3, resource]);
  const policy = encode([1, 2], [2, authz], [3, encode([1, event])], [5, encode([2, path])]);
  const http = encode([8, encode([1, event], [2, path])], [7, resource]);
  const method = methodOf("Get", [POLICY_EXTENSION, policy], [HTTP_EXTENSION, http]);
  // A name with such characters is refused as a whole.
  const name = `${file.replaceAll(UNSAFE, "")}.proto`;
  return encodeFile({ name, package: "a.v1", service: [{ name: "S", method: [method] }] });
}

const PLATFORM = {
  config: undefined,
  modelDiagnostics: [],
  modelOf: () => undefined,
};

/** Findings in every format. */
function expectAllHarmless(diagnostics: readonly Diagnostic[]): void {
  for (const [format, report] of Object.entries(REPORTS)) {
    const output = [...report({ diagnostics, rpcs: 1 }, { colors: false })].join("");
    if (format !== "github-actions") {
      expectHarmless(output);
      continue;
    }
    const lines = output.split("\n").slice(0, -1);
    expect(lines).toHaveLength(diagnostics.length);
    for (const line of lines) {
      // One command per line: its own.
      expect(line).toMatch(
        /^::(?:error|warning) file=[^:,]*(?:,line=\d+,col=\d+)?,title=[A-Z_]+::/,
      );
      expectHarmless(line.slice(2));
    }
  }
  for (const format of ["text", "json", "sarif"]) {
    expectHarmless(
      formatFindings({ diagnostics, definitions: 1, permissions: 1 }, format, { colors: false }),
    );
  }
}

test("findings in protos, in every format [COMP-7]", () => {
  fc.assert(
    fc.property(source, (one) => {
      const input = [DEFINITION, ...HTTP_DEFINITION, { bytes: fileOf(one), target: true }];
      const { diagnostics } = readAndCheck([input], PLATFORM);
      expect(diagnostics.length).toBeGreaterThan(0);
      expectAllHarmless(diagnostics);
    }),
    RUNS,
  );
});

test("the errors of the protoc plugin", async () => {
  await fc.assert(
    fc.asyncProperty(source, text, async (one, option) => {
      const bytes = fileOf(one);
      const reader = new BinaryReader(bytes);
      reader.tag();
      const name = reader.string();
      for (const parameter of ["target=policies", option]) {
        const request = encode(
          [1, name],
          [2, parameter],
          [15, DEFINITION.bytes],
          ...HTTP_DEFINITION.map((file) => [15, file.bytes] as const),
          [15, bytes],
        );
        const { response } = await runProtocPlugin(request, "/nowhere");
        const { error, file } = fromBinary(CodeGeneratorResponseSchema, response);
        expect(file).toEqual([]);
        expect(error).not.toBe("");
        expectHarmless(error);
      }
    }),
    RUNS,
  );
});

test("the annotations and errors of the check plugin", async () => {
  await fc.assert(
    fc.asyncProperty(source, text, async (one, option) => {
      const files = [
        fileOf(one),
        ...[DEFINITION, ...HTTP_DEFINITION].map(({ bytes }) => bytes),
      ].map((bytes, index) => {
        return [1, encode([1, bytes], [2, index > 0])] as const;
      });
      const config = [3, encode([1, option], [2, encode([4, "x"])])] as const;
      for (const check of [encode(...files), encode(...files, config)]) {
        const { response } = await answerCheck(encode([1, encode([2, check])]), "/nowhere");
        for (const message of messagesOf(response)) expectHarmless(message);
        expect(messagesOf(response).length).toBeGreaterThan(0);
      }
    }),
    RUNS,
  );
});

/** The messages of the annotations, or of the error, of a `pluginrpc.v1.Response`. */
function messagesOf(response: Uint8Array): string[] {
  const messages: string[] = [];
  const each = (bytes: Uint8Array, visit: (field: number, value: Uint8Array) => void) => {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (wireType === 2) visit(field, reader.bytes());
      else reader.skip(wireType);
    }
  };
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  each(response, (field, value) => {
    each(value, (inner, content) => {
      if (field === 2) messages.push(decode(content));
      else if (inner === 2) {
        each(content, (_, annotation) => {
          each(annotation, (part, message) => {
            if (part === 2) messages.push(decode(message));
          });
        });
      }
    });
  });
  return messages;
}

test("findings in svc-access.yaml and in a model", () => {
  const yaml = fc.record({ key: text, value: text }).map(({ key, value }) => {
    return `${JSON.stringify(key)}: ${JSON.stringify(value)}\npaths: [{path: ${JSON.stringify(value)}, service: ${JSON.stringify(key)}}]\n`;
  });
  fc.assert(
    fc.property(fc.oneof(yaml, text), text, text, (config, model, name) => {
      const loaded = loadConfig(config, `${name}.yaml`, {});
      const diagnostics = [
        ...("diagnostics" in loaded ? loaded.diagnostics : []),
        ...parseModel(`definition user {}\n${model}`, `${name}.zed`).diagnostics,
      ];
      expectAllHarmless(diagnostics.sort(compareDiagnostics));
    }),
    RUNS,
  );
});

test("the output of the model commands", () => {
  fc.assert(
    fc.property(text, text, text, (file, name, reason) => {
      const style = { colors: false };
      const position = { line: 1, column: 1 };
      const failure = { ...position, kind: "assertTrue", assertion: name, message: reason };
      const results = [
        { file, passed: 0, failures: [failure], notRun: [{ ...failure, reason }], exercised: [] },
      ];
      const coverage = [{ model: file, permissions: 1, covered: 0, percent: 0, missing: [name] }];
      const report = { results, passed: 0, failed: 1, notRun: 1, coverage, uncovered: false };
      const blockers = [{ relationship: { text: name, position }, reason }];
      const diff = { oldPath: file, newPath: file, relationships: file, changes: [], blockers };
      for (const format of ["text", "json"]) {
        expectHarmless(formatTests(report as never, format, style));
        expectHarmless(formatDiff(diff as never, format, style));
      }
    }),
    RUNS,
  );
});
