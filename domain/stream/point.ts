/** A point of an agent's history; null: the head. */
export type At = { readonly step: number } | { readonly revision: number } | { readonly turn: number } | null
