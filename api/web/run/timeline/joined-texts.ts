/** Ends like a sentence, without a space after it. */
const SENTENCE = /[.!?:)`*]$/
/** Begins like a sentence or a block of Markdown. */
const BEGINNING = /^[\p{Lu}\p{Lo}#>*`-]/u

/** Without a statement of the agent, a text that begins like a sentence after the end of one is a new paragraph. */
const isParagraph = (before: string, text: string): boolean => SENTENCE.test(before) && BEGINNING.test(text)

/**
 * Joins two texts that an agent has reported one after the other: a piece continues the text, a whole text is a new
 * paragraph. `continues` undefined: the agent did not say which.
 */
export const joinTexts = (before: string, text: string, continues?: boolean): string =>
  (continues === undefined ? isParagraph(before, text) : !continues) ? `${before}\n\n${text}` : before + text

const flagOf = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)

/** The events with each run of texts of one channel as one event. */
export function joinedTexts<T extends { readonly [member: string]: unknown }>(events: readonly T[]): readonly T[] {
  const joined: T[] = []
  for (const event of events) {
    const last = joined.at(-1)
    const isText = event.kind === 'TextOutput' && typeof event.text === 'string'
    if (isText && last?.kind === 'TextOutput' && typeof last.text === 'string' && last.channel === event.channel)
      joined[joined.length - 1] = { ...last, text: joinTexts(last.text, event.text as string, flagOf(event.continues)) }
    else joined.push(event)
  }
  return joined
}
