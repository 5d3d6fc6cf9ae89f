/** The limit that a model's calls share with others: those of one provider and key. */
export interface SharedLimit {
  /** Names provider and key; does not tell the key. */
  readonly key: string
  /** Requests a minute; null: only what the provider says counts. */
  readonly perMinute: number | null
}

/** The part of a minute's requests that may be made at once. */
const BURST = 0.1

/** Between two requests, and how far ahead of that pace they may be, ms. No pace: both are 0. */
export function paceOf({ perMinute }: SharedLimit): { readonly everyMs: number; readonly aheadMs: number } {
  if (perMinute === null) return { everyMs: 0, aheadMs: 0 }
  const everyMs = 60_000 / perMinute
  return { everyMs, aheadMs: everyMs * Math.max(0, Math.ceil(perMinute * BURST) - 1) }
}
