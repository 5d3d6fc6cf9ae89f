/** Ends like a sentence, without a space after it. */
const SENTENCE = /[.!?:)`*]$/
/** Begins like a sentence or a block of Markdown. */
const BEGINNING = /^[\p{Lu}\p{Lo}#>*`-]/u

/**
 * Joins the texts that an agent has reported one after the other. Some agents report pieces of words, others whole
 * messages: a text that begins like a sentence after the end of one is a new paragraph, any other continues the text.
 */
export const joinTexts = (before: string, text: string): string =>
  SENTENCE.test(before) && BEGINNING.test(text) ? `${before}\n\n${text}` : before + text

/** The events with each run of texts of one channel as one event. */
export function joinedTexts<T extends { readonly [member: string]: unknown }>(events: readonly T[]): readonly T[] {
  const joined: T[] = []
  for (const event of events) {
    const last = joined.at(-1)
    const isText = event.kind === 'TextOutput' && typeof event.text === 'string'
    if (isText && last?.kind === 'TextOutput' && typeof last.text === 'string' && last.channel === event.channel)
      joined[joined.length - 1] = { ...last, text: joinTexts(last.text, event.text as string) }
    else joined.push(event)
  }
  return joined
}
