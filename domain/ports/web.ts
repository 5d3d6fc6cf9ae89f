/** A page that a search engine names. All of it is text of strangers. */
export interface WebHit {
  readonly url: string
  readonly title: string
  /** A part of the page, or words about it; may be empty. */
  readonly snippet: string
  /** When the page was published, as the engine writes it. */
  readonly published?: string
}

/** A search engine for the web. */
export interface WebSearch {
  /** Names the engine to people, such as `brave`. */
  readonly name: string
  /** At most `count` hits, the best one first. Rejects with a ToolError, or with the signal's reason when aborted. */
  search(query: string, count: number, signal: AbortSignal): Promise<readonly WebHit[]>
}
