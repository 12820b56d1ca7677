interface Cookie {
  readonly value: string;
  readonly path: string;
}

/** A browser without scripts: it keeps cookies, and follows redirects within an origin. */
export class Browser {
  readonly #cookies = new Map<string, Cookie>();
  readonly #origin: string;
  readonly #address: string | undefined;
  /** The headers `Set-Cookie` of all responses. */
  readonly lines: string[] = [];
  /** The addresses of all requests. */
  readonly visited: string[] = [];

  /** @param address the client's address, as a proxy says it; that of the connection if absent */
  constructor(origin: string, address?: string) {
    this.#origin = origin;
    this.#address = address;
  }

  /** Requests an address without following its redirect. */
  async request(url: string, init: RequestInit = {}): Promise<Response> {
    const { pathname } = new URL(url);
    this.visited.push(url);
    const cookies = [...this.#cookies]
      .filter(
        ([, { path }]) => pathname === path || pathname.startsWith(`${path}/`) || path === "/",
      )
      .map(([name, { value }]) => `${name}=${value}`);
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: {
        accept: "text/html",
        ...(this.#address === undefined ? {} : { "x-forwarded-for": this.#address }),
        ...(cookies.length === 0 ? {} : { cookie: cookies.join("; ") }),
        ...init.headers,
      },
    });
    this.lines.push(...response.headers.getSetCookie());
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return response;
  }

  /** Requests an address and follows redirects until a page, or another origin. */
  async open(url: string, init: RequestInit = {}): Promise<Visit> {
    let response = await this.request(url, init);
    let at = url;
    for (let count = 0; count < 20; count++) {
      const location = response.headers.get("location");
      if (location === null) break;
      at = new URL(location, at).href;
      if (new URL(at).origin !== this.#origin)
        return { url: at, status: response.status, text: "" };
      await response.arrayBuffer();
      response = await this.request(at);
    }
    const { status, headers } = response;
    return { url: at, status, headers, text: await response.text() };
  }

  /** Submits the form of a page by one of its buttons. */
  async submit(
    visit: Visit,
    fields: Readonly<Record<string, string>>,
    init: RequestInit = {},
  ): Promise<Visit> {
    const action = /<form method="post"(?: action="([^"]*)")?>/.exec(visit.text);
    if (action === null) throw new Error(`there is no form: ${visit.text}`);
    const hidden = [...visit.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const body = new URLSearchParams();
    // A page may have several forms with the same hidden fields.
    for (const [, name = "", value = ""] of hidden) {
      if (!body.has(name)) body.set(name, unescaped(value));
    }
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const url = new URL(unescaped(action[1] ?? ""), visit.url).href;
    return this.open(action[1] === undefined ? visit.url : url, { method: "POST", body, ...init });
  }

  /** Sends the form of a page without following where it leads, which is `next`. */
  async send(visit: Visit, fields: Readonly<Record<string, string>>) {
    const form_token = fieldOf(visit, "form_token");
    const body = new URLSearchParams({ form_token, ...fields });
    const response = await this.request(visit.url, { method: "POST", body });
    const { status, headers } = response;
    const text = await response.text();
    return { url: visit.url, status, text, next: headers.get("location") ?? "" };
  }

  /** The names of its cookies. */
  names(): string[] {
    return [...this.#cookies.keys()];
  }

  /** The value of a cookie. */
  cookie(name: string): string | undefined {
    return this.#cookies.get(name)?.value;
  }

  setCookie(name: string, value: string, path = "/"): void {
    this.#cookies.set(name, { value, path });
  }

  #keep(line: string): void {
    const [pair = "", ...attributes] = line.split(/;\s*/);
    const [name = "", value = ""] = [
      pair.slice(0, pair.indexOf("=")),
      pair.slice(pair.indexOf("=") + 1),
    ];
    const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? "/";
    const expires = attributes.find((one) => /^expires=/i.test(one))?.slice(8);
    if (value === "" || (expires !== undefined && Date.parse(expires) < Date.now())) {
      this.#cookies.delete(name);
    } else {
      this.#cookies.set(name, { value, path });
    }
  }
}

let addresses = 0;

/** An address that no other client of the tests has: calls and pages are limited by address. */
export function nextAddress(): string {
  return `198.51.${(++addresses >> 8) % 256}.${addresses % 256}`;
}

/** Where a browser has come to. */
export interface Visit {
  readonly url: string;
  readonly status: number;
  /** Of a page within the origin. */
  readonly headers?: Headers;
  readonly text: string;
}

/** What a screen reader says of an element with this `aria-describedby`: the texts of paragraphs. */
export function descriptionOf(page: string, ids: string): string {
  const texts = ids.split(" ").map((id) => {
    const found = page.split(` id="${id}"`)[1] ?? "";
    return found.slice(found.indexOf(">") + 1, found.indexOf("</p>"));
  });
  const plain = texts
    .join(" ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
  return plain.replace(/ (?=[,)])|(?<=\() /g, "").trim();
}

/** The value of a hidden field of a page. */
export function fieldOf({ text }: Visit, name: string): string {
  const found = new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(text);
  return unescaped(found?.[1] ?? "");
}

function unescaped(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
