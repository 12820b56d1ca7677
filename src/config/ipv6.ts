const IPV6 = /^([0-9a-f:.]*:[0-9a-f:.]*)(?:%[0-9a-z.:-]+)?$/i;

/** Whether text is an IPv6 address, with or without a zone. `node:net` could check it, too, but loads slowly. */
export function isIpv6(text: string): boolean {
  const [, address] = IPV6.exec(text) ?? [];
  return address !== undefined && URL.canParse(`http://[${address}]`);
}
