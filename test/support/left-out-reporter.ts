import type { Reporter, TestModule, TestSuite } from "vitest/node";
import { IS_THOROUGH } from "./effort.ts";

/** Lists skipped tests at the end, so that a partial run is not mistaken for a complete one. */
export default class LeftOutReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      skippedOf(module).map((name) => `  ${module.relativeModuleId} > ${name}`),
    );
    if (skipped.length > 0) console.log(["Skipped:", ...skipped].join("\n"));
    if (!IS_THOROUGH) {
      console.log("Random inputs, kills and matrices were tried in part: CI=true tries all of it.");
    }
  }
}

/** The names of the tests that were skipped; of a suite without any other, its name. */
function skippedOf(parent: TestModule | TestSuite): string[] {
  return [...parent.children].flatMap((child) => {
    if (child.type === "test") return child.result().state === "skipped" ? [child.fullName] : [];
    const all = [...child.children.allTests()];
    const isSkipped = all.every((test) => test.result().state === "skipped");
    return isSkipped ? [`${child.fullName} (${all.length})`] : skippedOf(child);
  });
}
