import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "../../../src/pages/page.ts";
import { PageDesign } from "../../../src/pages/page-design.ts";

/**
 * Serves pages, by their names, as svc-iam does: those that a person sees only when a dependency fails at a certain moment.
 */
export async function startPageServer(pages: ReadonlyMap<string, readonly [status: number, Page]>) {
  const design = new PageDesign();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    const [status, page] = pages.get(url.searchParams.get("name") ?? "") ?? [];
    if (status === undefined || page === undefined) return void response.writeHead(404).end();
    const visit = { headers: { all: () => [] }, query: url.searchParams };
    const shown = design
      .view(visit, { requestId: "0192f0c1-7e5b-7c55-a1a4-6f2d8f7f2c11" })
      .show(status, page);
    response.writeHead(status, shown.headers).end(shown.text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    at: (name: string) => `http://127.0.0.1:${port}/?${new URLSearchParams({ name })}`,
    stop: () => server.close(),
  };
}
