/** Where a client calls. */
export interface ClientTarget {
  readonly address: string;
  readonly port?: number;
}

/** A URL, or a target of gRPC: `host:port`, perhaps behind a scheme such as `dns:///`. */
const TARGET =
  /^(?:[a-z][a-z0-9+.-]*:\/{2,3}(?:[^/@]*@)?)?(\[[^\]]+\]|[^:/]*)(?::([0-9]{1,5}))?(?:\/.*)?$/i;

/** Takes the target of a client apart, without what a URL may hold of secrets. */
export function clientTargetOf(target: string): ClientTarget {
  const [, host = "", port] = TARGET.exec(target) ?? [];
  const address = host.replace(/^\[|\]$/g, "");
  if (port !== undefined) return { address, port: Number(port) };
  if (/^https:/i.test(target)) return { address, port: 443 };
  return /^http:/i.test(target) ? { address, port: 80 } : { address };
}
