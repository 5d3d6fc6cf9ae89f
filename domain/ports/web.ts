/** A result of a search engine. All members are untrusted text. */
export interface WebHit {
  readonly url: string
  readonly title: string
  /** A part of the page, or a description; may be empty. */
  readonly snippet: string
  /** The publication date, in the engine's format. */
  readonly published?: string
}

/** A search engine for the web. */
export interface WebSearch {
  /** The display name of the engine, such as `brave`. */
  readonly name: string
  /** At most `count` hits, the best one first. Rejects with a ToolError, or with the signal's reason when aborted. */
  search(query: string, count: number, signal: AbortSignal): Promise<readonly WebHit[]>
}
