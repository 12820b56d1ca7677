/** Whose pages they are. */
export interface PageBrand {
  /** The name of the product. */
  readonly name: string;
  /** The logo, as a `data:` URL. */
  readonly logo?: string;
}
