/** The other end of the connection that a call came in on; one value for a connection, so that trust is worked out once. */
export interface Peer {
  /** The IP address, without port; IPv4 in IPv6 as IPv4. Empty where the connection has none. */
  readonly address: string;
  /** The names of its verified client certificate: subject alternative names, or the common name where it has none; empty without mTLS. */
  readonly certificateNames: readonly string[];
}
