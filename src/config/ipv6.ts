const IPV6 = /^([0-9a-f:.]*:[0-9a-f:.]*)(?:%[0-9a-z.:-]+)?$/i;

/** Whether text is an IPv6 address, with a zone or without. `node:net`, which knows too, takes long to load. */
export function isIpv6(text: string): boolean {
  const [, address] = IPV6.exec(text) ?? [];
  return address !== undefined && URL.canParse(`http://[${address}]`);
}
