import { CommandError } from "../run/command-error.ts";

/**
 * The origin of a server that somebody logs in at.
 *
 * @throws CommandError if it is not one, or tokens would be sent to another machine without TLS
 */
export function serverOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHttp || url.href !== `${url.origin}/`) {
    throw new CommandError(
      `${JSON.stringify(text)} is not the address of a server: write iam.public_url of its configuration, such as https://iam.example.com`,
    );
  }
  if (!isPrivate(url)) {
    throw new CommandError(
      `${url.origin} would get the login without TLS: write https://${url.host}`,
    );
  }
  return url.origin;
}

/**
 * Checks the issuer that somebody names.
 *
 * @throws CommandError if it is not a URL, or tokens would come from another machine without TLS
 */
export function assertIssuer(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && isPrivate(url)) return;
  throw new CommandError(
    `--issuer ${JSON.stringify(text)} is not the URL of an identity provider: write https://id.example.com`,
  );
}

/** Whether what is sent to a URL stays private: by TLS, or because it does not leave this machine. */
export function isPrivate(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}

/** Whether a URL is one of this machine, where http:// stays private. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}
