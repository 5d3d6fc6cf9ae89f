/** Untrusted members of a server's JSON. */
export type Fields = Record<string, unknown>

/** The members of a value. Empty if the value is not an object. */
export const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
