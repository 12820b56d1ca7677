import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Outcomes, Settings } from "./web-page/outcome.ts";

const ENTRY = fileURLToPath(new URL("web-page/page.ts", import.meta.url));

/** The script of the page with its imports, as a frontend build bundles it. */
export async function bundledPage(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error("nothing was bundled");
  return file.contents;
}

/** Serves a page on its own origin, and receives what it posts. */
export class PageServer {
  /** The outcomes that the page posts when it has finished. */
  readonly outcomes: Promise<Outcomes>;
  readonly #server: Server;

  private constructor(server: Server, outcomes: Promise<Outcomes>) {
    this.#server = server;
    this.outcomes = outcomes;
  }

  /**
   * @param settings returned to the page
   * @param frame another page that this one embeds
   */
  static async start(
    script: Uint8Array,
    settings: () => Settings,
    frame?: string,
  ): Promise<PageServer> {
    let posted: (outcomes: Outcomes) => void = () => undefined;
    const outcomes = new Promise<Outcomes>((resolve) => {
      posted = resolve;
    });
    const html = `<!doctype html><title>A page</title><script type="module" src="/page.js"></script>${frame === undefined ? "" : `<iframe src="${frame}"></iframe>`}`;
    const answers: Readonly<
      Record<string, () => readonly [type: string, body: string | Uint8Array]>
    > = {
      "/": () => ["text/html", html],
      "/page.js": () => ["text/javascript", script],
      "/settings": () => ["application/json", JSON.stringify(settings())],
    };
    const server = createServer((request, response) => {
      if (request.url === "/outcomes") {
        let text = "";
        request.on("data", (chunk: Buffer) => {
          text += chunk.toString();
        });
        request.on("end", () => {
          response.writeHead(204).end();
          posted(JSON.parse(text));
        });
        return;
      }
      const answer = answers[request.url ?? ""]?.();
      if (answer === undefined) {
        response.writeHead(404).end();
        return;
      }
      const [type, body] = answer;
      response.writeHead(200, { "content-type": type }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new PageServer(server, outcomes);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
