/** The line that `npm start` prints for a person who lists the clients of svc-iam. */
import { expect, test } from "vitest";
import { clientsLine } from "../../scripts/start/programs.ts";

test("it names the configuration that svc-iam runs with, as words of a shell", () => {
  const line = clientsLine({ iam: "http://127.0.0.1:18080" }, "/my iam.yaml", "/it's/token");
  expect(line).toMatch(/^SYSTEM_TOKEN="\$\(cat '\/it'\\''s\/token'\)" /);
  expect(line).toMatch(/ client list '\/my iam\.yaml' --server http:\/\/127\.0\.0\.1:18080$/);
});
