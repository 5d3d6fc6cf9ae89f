/** The limits of one `ops_xml`. */
export const MARKUP_LIMITS = {
  /** UTF-8 bytes, checked before parsing. */
  bytes: 1024 * 1024,
  /** The root has depth 1. */
  depth: 50,
  /** Elements and non-blank texts. */
  nodes: 10_000,
} as const
