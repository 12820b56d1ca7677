/** Whether a text can be sent as a bearer token (`b64token` of RFC 6750). */
export function isAccessToken(text: string): boolean {
  return /^[\w.~+/-]+=*$/.test(text);
}

/** Whether a text can be a refresh token: visible ASCII characters and spaces (`VSCHAR` of RFC 6749). */
export function isRefreshToken(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text);
}
