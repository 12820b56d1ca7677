/** The tutorial of the README: its files are written, and its commands print the output that it shows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InstalledRepository } from "../../support/installed-repository.ts";
import { ROOT } from "../../support/workspace.ts";

const PROTO = "proto/acme/orders/v1/orders.proto";

test("the commands of the README print the output that it shows, and its handlers have the right types", () => {
  const text = readFileSync(join(ROOT, "README.md"), "utf8");
  const part = text.slice(text.indexOf("## Five minutes"), text.indexOf("## Run it"));
  expect(part).toContain(`Write \`${PROTO}\``);
  using repo = new InstalledRepository();
  repo.must("svc-access", "init");
  let commands = 0;
  for (const [, language, block = ""] of part.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    if (language === "protobuf") repo.write(PROTO, changed(read(repo), block));
    else if (language === "ts") repo.write("src/orders.ts", block.replace("./gen/", "../gen/"));
    else {
      for (const step of block.split(/^\$ /m).slice(1)) {
        const [command = "", ...lines] = step.trimEnd().split("\n");
        const { stdout } = repo.run("bash", "-c", `(${command.replaceAll("npx ", "")}) 2>&1`);
        expect(stdout.trimEnd().split("\n"), command).toEqual(lines);
        commands++;
      }
    }
  }
  expect(commands).toBeGreaterThan(3);
  expect(repo.run("tsc")).toMatchObject({ status: 0, stdout: "" });
});

function read(repo: InstalledRepository): string {
  try {
    return readFileSync(join(repo.folder, PROTO), "utf8");
  } catch {
    return "";
  }
}

/** The first block is the file; the second is the policy that its second RPC lacks, and a corrected word. */
function changed(before: string, block: string): string {
  if (before === "") return block;
  const route = '      body: "*"\n    };\n';
  expect(before).toContain(route);
  return before.replace("raed", "read").replace(route, `${route}${block}`);
}
