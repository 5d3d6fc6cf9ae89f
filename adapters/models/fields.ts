/** Members of something that a server sent, none of them trusted to be there. */
export type Fields = Record<string, unknown>

/** A value's members; what is no object has none. */
export const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
