import { describe, expect, test } from "vitest";
import { REPORTS } from "../../../src/cli/report/report.ts";
import type { Diagnostic } from "../../../src/diagnostics/diagnostic.ts";

const diagnostics: readonly Diagnostic[] = [
  {
    rule: "ACCESS_POLICY_REQUIRED",
    severity: "error",
    message: "Get has no policy, 100%",
    file: "proto/a, b:c/ä.proto",
    line: 7,
    column: 3,
  },
  { rule: "MODEL_TYPE_UNKNOWN", severity: "warning", message: "two\nlines", file: "model.zed" },
];

function report(format: string, colors = false): string {
  return [...(REPORTS[format]?.({ diagnostics, rpcs: 2 }, { colors }) ?? [])].join("");
}

describe("findings are printed as", () => {
  test("text, one line each", () => {
    expect(report("text")).toBe(
      "proto/a, b:c/ä.proto:7:3: Get has no policy, 100% (ACCESS_POLICY_REQUIRED)\n" +
        "model.zed: warning: two\\u000alines (MODEL_TYPE_UNKNOWN)\n" +
        "2 RPCs: 1 error, 1 warning\n",
    );
  });

  test("text in colours on a terminal", () => {
    expect(report("text", true)).toContain("\u001b[31mproto/a");
    expect(report("text")).not.toContain("\u001b");
  });

  test("JSON", () => {
    expect(JSON.parse(report("json"))).toEqual({
      findings: [
        {
          file: "proto/a, b:c/ä.proto",
          line: 7,
          column: 3,
          rule: "ACCESS_POLICY_REQUIRED",
          severity: "error",
          message: "Get has no policy, 100%",
        },
        {
          file: "model.zed",
          line: null,
          column: null,
          rule: "MODEL_TYPE_UNKNOWN",
          severity: "warning",
          message: "two\nlines",
        },
      ],
      rpcs: 2,
    });
  });

  test("workflow commands of GitHub Actions, escaped", () => {
    expect(report("github-actions").split("\n")).toEqual([
      "::error file=proto/a%2C b%3Ac/ä.proto,line=7,col=3,title=ACCESS_POLICY_REQUIRED::Get has no policy, 100%25 (ACCESS_POLICY_REQUIRED)",
      "::warning file=model.zed,title=MODEL_TYPE_UNKNOWN::two\\u000alines (MODEL_TYPE_UNKNOWN)",
      "",
    ]);
  });

  test("SARIF 2.1.0", () => {
    const { version, runs } = JSON.parse(report("sarif"));
    expect(version).toBe("2.1.0");
    const [{ tool, results }] = runs;
    for (const { ruleId, ruleIndex } of results)
      expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
    expect(results[0]).toMatchObject({
      level: "error",
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: "proto/a%2C%20b%3Ac/%C3%A4.proto" },
            region: { startLine: 7, startColumn: 3 },
          },
        },
      ],
    });
    expect(results[1].locations[0].physicalLocation.region).toBeUndefined();
  });
});
